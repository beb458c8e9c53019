import { describe, expect, test } from 'vitest';
import { failedRequest, readBackendResponse } from './backend-response.ts';

const read = (body: string | Buffer, mapping: Record<string, string> = {}, status = 200, isComplete = true) =>
  readBackendResponse({ status, body: Buffer.from(body), isComplete }, mapping);

describe('the kind of a response', () => {
  test.each([
    [200, 'success'],
    [299, 'success'],
    [300, 'unknown'],
    [303, 'unknown'],
    [307, 'failure'],
    [308, 'failure'],
    [309, 'unknown'],
    [399, 'unknown'],
    [400, 'failure'],
    [499, 'failure'],
    [500, 'unknown'],
    [503, 'unknown'],
  ])('with the status %i is %s', (status, kind) => {
    expect(read('', {}, status).kind).toBe(kind);
    expect(read('{"ok":true}', { success: '/ok' }, status).kind).toBe(kind);
  });

  test.each([
    ['{"ok":true}', 'success'],
    ['{"ok":false}', 'failure'],
    ['{"ok":"true"}', 'unknown'],
    ['{"ok":null}', 'unknown'],
    ['{}', 'unknown'],
    ['null', 'unknown'],
    ['', 'unknown'],
    ['{"ok":true', 'unknown'],
    [`{"ok":true,"deep":${'['.repeat(17)}${']'.repeat(17)}}`, 'unknown'],
  ])('with a mapped success in %s is %s', (body, kind) => {
    expect(read(body, { success: '/ok' }).kind).toBe(kind);
  });

  test('that was not read to its end is known by its status only', () => {
    expect(read('{"ok":true}', {}, 200, false).kind).toBe('success');
    expect(read('{"ok":true}', { success: '/ok' }, 200, false).kind).toBe('unknown');
  });
});

test.each([
  ['names of prototypes', '{"ok":true,"__proto__":{"a":1}}'],
  ['names of prototypes', '{"constructor":{"prototype":1}}'],
  ['numbers without a value', '{"ok":true,"sum":1e999}'],
  ['half characters', String.raw`{"ok":true,"text":"\ud800"}`],
  ['half characters in names', String.raw`{"\udc00":true}`],
  ['more than a thousand values', JSON.stringify(Array.from({ length: 1000 }, () => 1))],
])('a body with %s is kept as text', (_, body) => {
  expect(read(body, { success: '/ok' }).internalData).toEqual({ status: 200, text: body });
});

test('a body with a thousand values is kept as it is', () => {
  const values = Array.from({ length: 999 }, () => 1);
  expect(read(JSON.stringify(values)).internalData).toEqual({ status: 200, body: values });
});

describe('a JSON Pointer', () => {
  const body = JSON.stringify({ '': 'empty', a: ['x', { b: 7 }], 'm/n~': true, text: ` ${'y'.repeat(101)}` });
  test.each([
    ['/a/0', 'x'],
    ['/a/1/b', '7'],
    ['/m~1n~0', 'true'],
    ['/', 'empty'],
    ['/a', 'ok'],
    ['/a/2', 'ok'],
    ['/a/length', 'ok'],
    ['/constructor', 'ok'],
    ['/__proto__/x', 'ok'],
    ['/text', 'y'.repeat(100)],
    ['', 'ok'],
  ])('%s finds %s', (responseCode, expected) => {
    expect(read(body, { responseCode }).responseCode).toBe(expected);
  });
});

test('texts of the backend system have no NUL, no half characters, and an end', () => {
  const long = read(JSON.stringify({ m: `a\0${'😀'.repeat(5000)}b` }), { message: '/m' }).message ?? '';
  expect([long.length, long.includes('\0'), long.isWellFormed()]).toEqual([10_000, false, true]);
});

test('what is kept of a response is its JSON, or the start of its text', () => {
  expect(read('{"a":1}').internalData).toEqual({ status: 200, body: { a: 1 } });
  expect(read('').internalData).toEqual({ status: 200 });
  expect(read('<html>').internalData).toEqual({ status: 200, text: '<html>' });
  const long = JSON.stringify('ä'.repeat(16 * 1024));
  expect(String(read(long).internalData.text)).toHaveLength(8192);
});

test('an error after which nothing can have been sent is a failure, any other leaves it open', () => {
  expect(failedRequest('connect_failed', false)).toMatchObject({ kind: 'failure', responseCode: 'connect_failed' });
  expect(failedRequest('timeout', true)).toMatchObject({ kind: 'unknown', responseCode: 'unknown' });
});
