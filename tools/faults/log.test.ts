import { expect, test } from 'vitest';
import { readSentence } from './log.ts';

test('describes a log line by level, service, message and cause, with # for numbers', () => {
  const line = { level: 50, name: 'tickets', msg: 'no response', err: { type: 'Error', message: 'port 4711\nat x' } };
  expect(readSentence(JSON.stringify(line))).toBe('error tickets: no response (Error: port #');
  expect(readSentence(JSON.stringify({ level: 40, name: 'gateway', msg: 'slow' }))).toBe('warning gateway: slow');
});

test('ignores output that is not a log line of a service', () => {
  expect(readSentence('ready http://127.0.0.1:8080')).toBeUndefined();
  expect(readSentence('{"half a')).toBeUndefined();
  expect(readSentence('{}')).toBeUndefined();
});
