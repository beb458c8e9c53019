import type { DomainError } from '@ticketing/errors/domain-error.ts';
import { crashAtEachWrite, crashAtWrite } from '@ticketing/testkit/crash.ts';
import { seededBytes } from '@ticketing/testkit/seed.ts';
import { testDatabase } from '@ticketing/testkit/test-database.ts';
import { afterEach, beforeAll, describe, expect, test, vi } from 'vitest';
import {
  buildIdempotencyIndexes,
  type IdempotencyStore,
  openIdempotencyStore,
} from '../src/idempotency/idempotency-store.ts';

const connection = await testDatabase();
beforeAll(() => buildIdempotencyIndexes(connection));
afterEach(() => vi.restoreAllMocks());

const mebibyte = 1024 * 1024;
const minute = 60_000;
const hour = 60 * minute;
const subject = { kind: 'Ticket', id: 7 };
const sender = (name: string, maxBytes = 1024 * mebibyte) => ({ name, maxBytes });
let keys = 0;
const newKey = () => `key-${keys++}`;
/** A store as another process has it, whose clock is some time ahead. */
const processAt = (aheadMs = 0) => openIdempotencyStore(connection, () => Date.now() + aheadMs);
const readReason = (error: unknown) => (error as DomainError).reason;
const countMatching = (name: string, query = {}) => connection.collection(name).countDocuments(query);

async function claimed(store: IdempotencyStore, key: string, from = sender('x')) {
  const found = await store.claim(key, 'print', from);
  if (found.state !== 'claimed') throw new Error(`the request is ${found.state}`);
  return found.claim;
}

/** Processes a request that is not known yet. */
async function process(store: IdempotencyStore, key: string, response: Uint8Array, from = sender('x')): Promise<void> {
  await store.complete(await claimed(store, key, from), response, []);
}

test.each([0, 1, mebibyte, mebibyte + 1, 4 * mebibyte, 8 * mebibyte, 8 * mebibyte + 1, 40 * mebibyte])(
  // guarantee: B9
  'a response of %i bytes is returned as it was',
  async (size) => {
    const response = seededBytes(size);
    const key = newKey();
    await process(processAt(), key, response);
    const found = await processAt().claim(key, 'print', sender('x'));
    if (found.state !== 'done') throw new Error(`the request is ${found.state}`);
    expect(response.equals(found.response)).toBe(true);
  },
);

// guarantee: B9
test('a crash while a large response is stored leaves it stored, or the request to be repeated, and nothing besides', async () => {
  const seen = new Set<string>();
  const writes = await crashAtEachWrite(async (nth, when) => {
    await connection.collection('idempotencyParts').deleteMany({});
    const key = newKey();
    const [first, second] = [seededBytes(9 * mebibyte), seededBytes(9 * mebibyte)];
    const claim = await claimed(processAt(), key);
    const hasDied = await crashAtWrite(nth, when, () => processAt().complete(claim, first, []));
    const later = processAt(2 * minute);
    const found = await later.claim(key, 'print', sender('x'));
    seen.add(found.state);
    if (!hasDied) expect(found.state).toBe('done');
    if (found.state === 'claimed') await later.complete(found.claim, second, []);
    await processAt(4 * minute).removeExpired();
    const again = await processAt(4 * minute).claim(key, 'print', sender('x'));
    if (again.state !== 'done') throw new Error(`the request is ${again.state}`);
    expect((found.state === 'claimed' ? second : first).equals(again.response), `${when} write ${nth}`).toBe(true);
    expect(await countMatching('idempotencyParts'), `${when} write ${nth}`).toBe(3);
    return hasDied;
  });
  expect(writes).toBeGreaterThanOrEqual(5);
  expect(seen).toEqual(new Set(['claimed', 'done']));
});

describe('the parts of a response', () => {
  test('are erased with what they describe', async () => {
    await connection.collection('idempotencyParts').deleteMany({});
    const store = processAt();
    const key = newKey();
    await store.complete(await claimed(store, key), seededBytes(5 * mebibyte), [subject]);
    expect(await countMatching('idempotencyParts')).toBe(2);
    await store.eraseAbout(subject);
    expect(await countMatching('idempotencyParts')).toBe(0);
    expect(await store.claim(key, 'print', sender('x'))).toMatchObject({ state: 'erased', kind: 'Ticket' });
  });

  // guarantee: B9
  test('about something that was erased before do not stay, whenever their process crashes', async () => {
    const erased = { kind: 'Ticket', id: 8 };
    await processAt().eraseAbout(erased);
    const writes = await crashAtEachWrite(async (nth, when) => {
      const key = newKey();
      const claim = await claimed(processAt(), key);
      const response = seededBytes(5 * mebibyte);
      const hasDied = await crashAtWrite(nth, when, () => processAt().complete(claim, response, [erased]));
      await processAt(2 * minute).removeExpired();
      expect(await countMatching('idempotencyParts', { subjects: 'Ticket/8' }), `${when} write ${nth}`).toBe(0);
      return hasDied;
    });
    expect(writes).toBeGreaterThanOrEqual(5);
  });

  test('stay while their request is being completed, however long that takes', async () => {
    await connection.collection('idempotencyParts').deleteMany({});
    const store = processAt();
    const key = newKey();
    const claim = await claimed(store, key);
    const response = seededBytes(5 * mebibyte);
    const sweeping = processAt(2 * minute);
    await sweeping.renew(claim);
    const part = { _id: 'late/0' as never, response: 'late', requestKey: key, subjects: [], checkAt: new Date(0) };
    await connection.collection('idempotencyParts').insertOne(part);
    await sweeping.removeExpired();
    expect(await countMatching('idempotencyParts')).toBe(1);
    await store.complete(claim, response, []);
    await sweeping.removeExpired();
    expect(await countMatching('idempotencyParts')).toBe(2);
    expect((await sweeping.claim(key, 'print', sender('x'))).state).toBe('done');
  });
});

test('nothing is left of requests after 24 hours', async () => {
  await process(processAt(), newKey(), seededBytes(2 * mebibyte));
  await processAt(26 * hour).removeExpired();
  for (const name of ['idempotencyKeys', 'idempotencyParts', 'idempotencyBytes'])
    expect(await countMatching(name)).toBe(0);
});

describe('the stored responses of a caller', () => {
  // guarantee: B10
  test('are bounded: at the limit a new request is refused, without a trace; one byte below it is not refused', async () => {
    const caller = sender('limited', 4 * mebibyte);
    await process(processAt(), newKey(), seededBytes(4 * mebibyte - 1), caller);
    const last = newKey();
    const store = processAt();
    await process(store, last, seededBytes(1), caller);
    const refused = newKey();
    const error = await store.claim(refused, 'print', caller).catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ code: 'resource_exhausted', reason: 'idempotency_budget_exceeded' });
    const { retryAfterSeconds = 0 } = error as DomainError;
    expect(retryAfterSeconds).toBeGreaterThan((24 * hour) / 1000);
    expect(retryAfterSeconds).toBeLessThanOrEqual((25 * hour) / 1000);
    expect(await countMatching('idempotencyKeys', { _id: refused })).toBe(0);
    expect((await store.claim(last, 'print', caller)).state).toBe('done');
    await process(store, newKey(), seededBytes(1), sender('other', 4 * mebibyte));
    await process(processAt(retryAfterSeconds * 1000), refused, seededBytes(1), caller);
  });

  test('are counted for small ones too, by the process that stores them', async () => {
    const caller = sender('small', 1000);
    const store = processAt();
    for (let nth = 0; nth < 10; nth++) await process(store, newKey(), seededBytes(100), caller);
    expect(await store.claim(newKey(), 'print', caller).catch(readReason)).toBe('idempotency_budget_exceeded');
    const another = sender('another', 1000);
    for (let nth = 0; nth < 9; nth++) await process(store, newKey(), seededBytes(100), another);
    await process(store, newKey(), seededBytes(99), another);
    await process(store, newKey(), seededBytes(1), another);
    expect(await store.claim(newKey(), 'print', another).catch(readReason)).toBe('idempotency_budget_exceeded');
  });

  test('do not stop a request that another process has begun', async () => {
    const caller = sender('begun', mebibyte);
    const begun = newKey();
    await claimed(processAt(), begun, caller);
    await process(processAt(), newKey(), seededBytes(mebibyte), caller);
    const later = processAt(minute);
    expect((await later.claim(begun, 'print', caller)).state).toBe('claimed');
    expect(await later.claim(newKey(), 'print', caller).catch(readReason)).toBe('idempotency_budget_exceeded');
  });
});
