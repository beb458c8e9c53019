import { describe, expect, inject, test } from 'vitest';
import { kafkaBus } from '../src/bus/kafka-bus.ts';
import { testBus } from './bus-contract.ts';

const brokers = inject('kafkaBrokers');
const log = () => undefined;

// These tests need brokers; `npm run test:containers` starts them.
describe.skipIf(brokers.length === 0)('with real brokers', () => {
  testBus('Kafka', async () => kafkaBus({ brokers, clientId: 'test', prefix: 'test.', log }));
});

test('reports that the bus is unavailable when no broker responds', async () => {
  const bus = kafkaBus({ brokers: ['127.0.0.1:1'], clientId: 'test', log });
  const unavailable = { code: 'unavailable', reason: 'bus_unavailable' };
  await expect(bus.publish('t', [{ key: 'a', value: new Uint8Array(), headers: {} }])).rejects.toMatchObject(
    unavailable,
  );
  await expect(bus.check()).rejects.toMatchObject(unavailable);
  await expect(bus.setUp([])).rejects.toMatchObject(unavailable);
  await bus.close();
});
