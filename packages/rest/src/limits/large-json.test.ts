import { expect, onTestFinished, test } from 'vitest';
import type { JsonThread } from './json-thread.ts';
import { largeBodyBytes, largeTextLength, openLargeJson } from './large-json.ts';

const limits = { maxQueuedBytes: 1024 ** 3, maxQueuedBytesPerCaller: 1024 ** 3 };

function open(thread?: JsonThread) {
  const json = openLargeJson(limits, thread);
  onTestFinished(() => json.close());
  return json;
}

/** A JSON text of `bytes` bytes. */
const toText = (bytes: number) => Buffer.from(`"${'x'.repeat(bytes - 2)}"`);

// guarantee: H6
test('parses a body in the thread from the limit on, and a smaller one at once', async () => {
  const json = open();
  expect(json.parse('a', toText(largeBodyBytes - 1))).toEqual({
    json: 'x'.repeat(largeBodyBytes - 3),
    violations: [],
  });
  const parsed = json.parse('a', toText(largeBodyBytes));
  expect(parsed).toBeInstanceOf(Promise);
  expect(await parsed).toEqual({ json: 'x'.repeat(largeBodyBytes - 2), violations: [] });
});

test('checks a body in the thread from the limit on, and gives it back', async () => {
  const json = open();
  for (const bytes of [largeBodyBytes - 1, largeBodyBytes]) {
    const given = toText(bytes);
    const { body, violations } = await json.check('a', given);
    expect([Buffer.from(body).equals(toText(bytes)), violations]).toEqual([true, []]);
    expect(given).toHaveLength(bytes < largeBodyBytes ? bytes : 0);
  }
});

// guarantee: H6
test('writes texts in the thread above the limit, wherever they are, and others at once', async () => {
  const json = open();
  const value = (length: number) => ({
    id: 1,
    texts: ['x'.repeat(length - 10), { text: 'y'.repeat(10), unset: null }],
  });
  expect(json.write('a', value(largeTextLength))).toBe(JSON.stringify(value(largeTextLength)));
  const written = json.write('a', value(largeTextLength + 1));
  expect(written).toBeInstanceOf(Promise);
  expect(String(await written)).toBe(JSON.stringify(value(largeTextLength + 1)));
});

// guarantee: H7
test('writes a response at once if the thread fails, because what it describes has happened', async () => {
  const failing = () => Promise.reject(new Error('crashed'));
  const json = open({ parse: failing, check: failing, write: failing, close: async () => undefined });
  const value = { text: 'x'.repeat(largeTextLength + 1) };
  expect(String(await json.write('a', value))).toBe(JSON.stringify(value));
});
