import { createLogger } from '@ticketing/runtime/logger.ts';
import kafkajs from 'kafkajs';
import { expect, test } from 'vitest';
import { kafkaLog } from './kafka-log.ts';

const { logLevel } = kafkajs;

function recorded() {
  const lines: Record<string, unknown>[] = [];
  const log = createLogger('test', 'debug', { write: (line) => void lines.push(JSON.parse(line)) });
  let now = 1_000;
  const write = kafkaLog(log, () => now)(logLevel.WARN);
  const entry = (level: number, namespace: string, message: string, error?: string) =>
    write({ level, namespace, label: '', log: { timestamp: '', message, broker: 'b:9092', error } });
  return { lines, entry, later: (ms: number) => (now += ms) };
}

test('lines of a kind are logged once a minute, as warnings that say what has happened', () => {
  const { lines, entry, later } = recorded();
  for (let nth = 0; nth < 500; nth++) {
    entry(logLevel.ERROR, 'Connection', `Connection error: connect ECONNREFUSED 127.0.0.1:${9000 + nth}`);
    entry(logLevel.ERROR, 'BrokerPool', 'Failed to connect to seed broker, trying another broker: refused');
  }
  expect(lines).toMatchObject([
    { level: 40, msg: 'Kafka: Connection error: connect ECONNREFUSED 127.0.0.1:9000', repeated: 0 },
    { level: 40, msg: 'Kafka: Failed to connect to seed broker, trying another broker: refused' },
  ]);
  later(60_000);
  entry(logLevel.WARN, 'Connection', 'Connection error: connect ECONNREFUSED 127.0.0.1:9092');
  expect(lines).toHaveLength(3);
  expect(lines[2]).toMatchObject({ client: 'Connection', broker: 'b:9092', repeated: 499 });
});

test('another kind is logged at once, and information never', () => {
  const { lines, entry } = recorded();
  entry(logLevel.ERROR, 'Connection', 'Connection error: refused');
  entry(logLevel.ERROR, 'Connection', 'SASL OAUTHBEARER authentication failed: expired');
  entry(logLevel.ERROR, 'Connection', 'Response Fetch(key: 1, version: 11)', 'The broker is not available');
  entry(logLevel.INFO, 'Consumer', 'Starting');
  expect(lines).toHaveLength(3);
  expect(lines[2]).toMatchObject({ msg: 'Kafka: Response Fetch(key: 1, version: 11): The broker is not available' });
});
