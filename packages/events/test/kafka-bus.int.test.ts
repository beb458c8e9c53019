import { describe, expect, inject, test } from 'vitest';
import { kafkaBus } from '../src/bus/kafka-bus.ts';
import { testBus } from './bus-contract.ts';

const brokers = inject('kafkaBrokers');
const log = () => undefined;

// Without brokers there is nothing to test against: npm run test:containers brings them.
describe.skipIf(brokers.length === 0)('with real brokers', () => {
  testBus('Kafka', async () => kafkaBus({ brokers, clientId: 'test', prefix: 'test.', log }));
});

test('says that it is away when no broker answers', async () => {
  const bus = kafkaBus({ brokers: ['127.0.0.1:1'], clientId: 'test', log });
  const away = { code: 'unavailable', reason: 'bus_unavailable' };
  await expect(bus.publish('t', [{ key: 'a', value: new Uint8Array(), headers: {} }])).rejects.toMatchObject(away);
  await expect(bus.check()).rejects.toMatchObject(away);
  await expect(bus.setUp([])).rejects.toMatchObject(away);
  await bus.close();
});
