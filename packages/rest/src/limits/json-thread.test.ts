import { deepStrictEqual } from 'node:assert/strict';
import { DomainError } from '@ticketing/errors/domain-error.ts';
import fc from 'fast-check';
import { expect, onTestFinished, test, vi } from 'vitest';
import { type JsonThread, type JsonThreadOptions, openJsonThread } from './json-thread.ts';
import { parseJson } from './parse-json.ts';

const probe = new URL('../../test/probe.worker.ts', import.meta.url);

function open(options: Partial<JsonThreadOptions> = {}): JsonThread {
  const maxQueuedBytes = 1024 ** 3;
  const thread = openJsonThread({ maxQueuedBytes, maxQueuedBytesPerCaller: maxQueuedBytes, ...options });
  onTestFinished(() => thread.close());
  return thread;
}

const toBytes = (text: string) => new TextEncoder().encode(text);

/** The value that a parser returns, or the parts of its error that callers see. */
async function outcome(parse: () => unknown): Promise<unknown> {
  try {
    return { value: await parse() };
  } catch (error) {
    if (!(error instanceof DomainError)) throw error;
    const { code, reason, message, violations } = error;
    return { code, reason, message, violations };
  }
}

async function expectSame(thread: JsonThread, bytes: Uint8Array): Promise<void> {
  const inline = await outcome(() => parseJson(bytes));
  // Vitest compares a key `__proto__` wrongly.
  deepStrictEqual(await outcome(() => thread.parse('a', bytes.slice())), inline);
  const checked = await outcome(async () => {
    const { body, violations } = await thread.check('a', bytes.slice());
    expect(Buffer.from(body).equals(bytes)).toBe(true);
    return { ...parseJson(body), violations };
  });
  deepStrictEqual(checked, inline);
}

// guarantee: H6
test('parses every text as it is parsed at once', async () => {
  const thread = open();
  const piece = fc.oneof(
    fc.constantFrom('{', '}', '[', ']', ',', ':', '"', '\\', '"a"', '"__proto__"', '"constructor"', '-0', '1e999'),
    fc.json(),
    fc.string({ unit: 'binary' }).map((text) => JSON.stringify(text)),
  );
  const text = fc.oneof(
    fc.json({ maxDepth: 6 }),
    fc.array(piece, { maxLength: 12 }).map((pieces) => pieces.join('')),
  );
  const bytes = fc.oneof(text.map(toBytes), fc.uint8Array());
  await fc.assert(fc.asyncProperty(bytes, (given) => expectSame(thread, given)));
});

test.each([
  ['keys given twice', '{"a":1,"a":{"b":1,"b":2}}'],
  ['keys that reach a prototype', '{"__proto__":{"x":1},"constructor":{"prototype":1},"0":1,"-1":2}'],
  ['halves of surrogate pairs', '["\\ud800","\\udc00\\ud800"]'],
  ['malformed JSON', '{"a":1,}'],
  ['an empty text', ''],
  ['64 levels', `${'['.repeat(64)}${']'.repeat(64)}`],
  ['65 levels', `${'['.repeat(65)}${']'.repeat(65)}`],
  ['60,000 values', `[${'1,'.repeat(59_999)}1]`],
  ['60,001 values', `[${'1,'.repeat(60_000)}1]`],
  ['25,000 keys', `{${Array.from({ length: 25_000 }, (_, index) => `"${index}x":1`).join()}}`],
  ['50,001 keys', `{${Array.from({ length: 50_001 }, (_, index) => `"${index}x":1`).join()}}`],
])('parses or refuses %s as it is done at once', async (_, text) => {
  await expectSame(open(), toBytes(text));
});

test.each([
  ['an invalid byte', [0x22, 0xff, 0x22]],
  ['a character that is cut off', [0x22, 0xe6, 0xbc, 0x22]],
  ['a byte order mark', [0xef, 0xbb, 0xbf, 0x31]],
])('parses or refuses %s as it is done at once', async (_, bytes) => {
  await expectSame(open(), Uint8Array.from(bytes));
});

test('parses a part of a buffer', async () => {
  const buffer = toBytes('xx{"a":1}xx');
  expect(await open().parse('a', buffer.subarray(2, 9))).toEqual({ json: { a: 1 }, violations: [] });
  expect(buffer).toHaveLength(11);
});

// guarantee: H6
test('writes every value as JSON.stringify does', async () => {
  const thread = open();
  await fc.assert(
    fc.asyncProperty(fc.jsonValue({ stringUnit: 'binary', maxDepth: 5 }), async (value) => {
      expect(Buffer.from(await thread.write('a', value)).toString()).toBe(JSON.stringify(value));
    }),
  );
  const json = { 'a"': ['\ud800', '\u0001\n\\', -0, undefined], unset: undefined };
  expect(Buffer.from(await thread.write('a', json)).toString()).toBe(JSON.stringify(json));
});

// guarantee: H5
test('leaves the event loop to others while it parses and writes', async () => {
  const thread = open();
  const body = toBytes(JSON.stringify('"\n'.repeat(5_000_000)));
  let turns = 0;
  let isDone = false;
  const turn = () => {
    turns += 1;
    if (!isDone) setImmediate(turn);
  };
  await thread.parse('a', toBytes('1'));
  setImmediate(turn);
  const { json } = await thread.parse('a', body);
  const turnsOfParse = turns;
  await thread.write('a', json);
  isDone = true;
  expect(turnsOfParse).toBeGreaterThan(20);
  expect(turns - turnsOfParse).toBeGreaterThan(20);
});

const crashed = { code: 'unavailable', reason: 'json_crashed', retryAfterSeconds: 1 };

test.each(['exit', 'throw', 'spin', 'fail'])(
  // guarantee: H7
  'a thread that does not do its work (%s) is 503, and the next text is read',
  async (what) => {
    const thread = open({ module: probe, timeoutMs: what === 'spin' ? 2_000 : 60_000 });
    const outcomes = await Promise.allSettled([
      thread.parse('a', toBytes(what)),
      thread.parse('a', toBytes('next')),
      thread.parse('b', toBytes('next')),
    ]);
    expect(outcomes).toMatchObject([
      { status: 'rejected', reason: crashed },
      { status: 'fulfilled' },
      { status: 'fulfilled' },
    ]);
  },
);

test('a module that cannot be loaded is 503', async () => {
  const thread = open({ module: new URL('../../test/missing.worker.ts', import.meta.url) });
  await expect(thread.parse('a', toBytes('1'))).rejects.toMatchObject(crashed);
  await expect(thread.parse('a', toBytes('1'))).rejects.toMatchObject(crashed);
});

test('a value that cannot be copied is an error, and the next text is read', async () => {
  const thread = open();
  await expect(thread.write('a', { text: () => 1 })).rejects.toThrow('could not be cloned');
  expect(await thread.parse('a', toBytes('1'))).toEqual({ json: 1, violations: [] });
});

// guarantee: H7
test('callers are served in turn', async () => {
  const thread = open({ module: probe });
  const order: string[] = [];
  const parse = async (caller: string, name: string) => {
    await thread.parse(caller, toBytes(name));
    order.push(name);
  };
  await Promise.all([parse('a', 'a1'), parse('a', 'a2'), parse('a', 'a3'), parse('a', 'a4'), parse('b', 'b1')]);
  expect(order).toEqual(['a1', 'a2', 'b1', 'a3', 'a4']);
});

test('bodies that wait have a limit of bytes, of all callers and of one', async () => {
  const thread = open({ module: probe, maxQueuedBytes: 10, maxQueuedBytesPerCaller: 6 });
  const refused = { code: 'unavailable', reason: 'bodies_in_flight', retryAfterSeconds: 1 };
  const parse = (caller: string, bytes: number) => thread.parse(caller, new Uint8Array(bytes));
  const outcomes = await Promise.allSettled([
    ...[parse('a', 100), parse('a', 6), parse('a', 1)],
    ...[parse('b', 4), parse('c', 1), thread.write('c', 'x'.repeat(100))],
  ]);
  expect(outcomes.map(({ status }) => status)).toEqual([
    ...['fulfilled', 'fulfilled', 'rejected'],
    ...['fulfilled', 'rejected', 'fulfilled'],
  ]);
  expect([outcomes[2], outcomes[4]]).toMatchObject([{ reason: refused }, { reason: refused }]);
});

test('ends after a time without work, and starts again', async () => {
  const thread = open({ module: probe, idleMs: 1 });
  const { json: first } = await thread.parse('a', toBytes('1'));
  await vi.waitFor(async () => expect((await thread.parse('a', toBytes('1'))).json).not.toBe(first), {
    timeout: 30_000,
    interval: 20,
  });
});

test('what has no result when it is closed fails, and so does what comes later', async () => {
  const thread = open({ module: probe });
  const running = thread.parse('a', toBytes('spin'));
  const waiting = thread.parse('a', toBytes('1'));
  const failed = Promise.allSettled([running, waiting]);
  await thread.close();
  const closed = { status: 'rejected', reason: { code: 'unavailable', reason: 'json_closed', retryAfterSeconds: 1 } };
  expect(await failed).toMatchObject([closed, closed]);
  await expect(thread.parse('a', toBytes('1'))).rejects.toMatchObject(closed.reason);
});
