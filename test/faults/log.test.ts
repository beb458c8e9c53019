import { expect, test } from 'vitest';
import { sentenceOf } from './log.ts';

test('tells lines of a log by level, service, message and cause, whatever numbers they hold', () => {
  const line = { level: 50, name: 'tickets', msg: 'no answer', err: { type: 'Error', message: 'port 4711\nat x' } };
  expect(sentenceOf(JSON.stringify(line))).toBe('error tickets: no answer (Error: port #');
  expect(sentenceOf(JSON.stringify({ level: 40, name: 'gateway', msg: 'slow' }))).toBe('warning gateway: slow');
});

test('passes over what is no line of a log', () => {
  expect(sentenceOf('ready http://127.0.0.1:8080')).toBeUndefined();
  expect(sentenceOf('{"half a')).toBeUndefined();
  expect(sentenceOf('{}')).toBeUndefined();
});
