import { crashAtEachWrite, crashAtWrite } from '@ticketing/testkit/crash.ts';
import { testDatabase } from '@ticketing/testkit/test-database.ts';
import { beforeEach, expect, test } from 'vitest';
import type { AuditEntry, ChainPoint } from '../src/audit/audit-chain.ts';
import { checkExport, exportAuditLog } from '../src/audit/audit-export.ts';
import { buildAuditIndexes, openAuditLog, undecidedMs } from '../src/audit/audit-log.ts';

const connection = await testDatabase();
await buildAuditIndexes(connection);
const collection = (name: string) => connection.collection<{ _id: never }>(name);

let now = Date.parse('2026-03-01T00:00:00Z');
const open = () => openAuditLog(connection, 'settings', () => now);
const log = open();

beforeEach(async () => {
  for (const name of ['auditPending', 'auditEntries', 'auditPoints']) await collection(name).deleteMany({});
});

const change = (id: string) => ({
  actor: { kind: 'user', id: '7' },
  method: 'ticketing.settings.v1.WebhookService.UpdateWebhook',
  subject: { kind: 'Webhook', ids: [id] },
  fields: ['url'],
  traceId: 'f00d',
});

async function make(id: string): Promise<void> {
  await log.complete(await log.begin(change(id)), []);
}

async function readEntries(): Promise<AuditEntry[]> {
  const entries: AuditEntry[] = [];
  for await (const entry of log.entries()) entries.push(entry);
  return entries;
}

const listIds = async () => (await readEntries()).map(({ subject, outcome }) => `${subject.ids.join()} ${outcome}`);

test('a change that was made becomes an entry, and one that was refused does not', async () => {
  await make('1');
  const refused = await log.begin(change('2'));
  await log.discard(refused);
  await log.complete(await log.begin({ ...change('3'), subject: { kind: 'Webhook', ids: [] } }), ['9']);
  const end = await log.seal();
  expect(await listIds()).toEqual(['1 done', '9 done']);
  expect(await readEntries()).toMatchObject([
    { number: 1, at: '2026-03-01T00:00:00.000Z', ...change('1') },
    { number: 2 },
  ]);
  expect(await log.verify()).toEqual({ entries: 2, end, problems: [] });
});

test('who seals the log learns its last entry, also if another process has appended it', async () => {
  expect(await log.seal()).toBeUndefined();
  await make('1');
  const end = await open().seal();
  expect(end).toMatchObject({ number: 1 });
  expect(await log.seal()).toEqual(end);
});

test('an export begins where an earlier one has ended, and only there', async () => {
  const readLines = async (from?: ChainPoint) => {
    const lines: string[] = [];
    await exportAuditLog(log, 'settings', (line) => lines.push(line), from);
    return lines;
  };
  await make('1');
  await make('2');
  const first = await log.seal();
  expect(await readLines(first)).toEqual([JSON.stringify({ service: 'settings', after: first })]);
  await make('3');
  const second = await log.seal();
  const lines = await readLines(first);
  expect(lines.map((line) => JSON.parse(line))).toMatchObject([{ after: first }, { number: 3 }]);
  expect(await checkExport(lines, first && [first])).toMatchObject({ entries: 1, end: second, problems: [] });
  await expect(readLines({ number: 2, hash: 'f'.repeat(64) })).rejects.toThrow('does not go on at 2');
  await expect(readLines({ number: 4, hash: 'f'.repeat(64) })).rejects.toThrow('does not go on at 4');
  now += 1;
  await log.removeOlderThan(now);
  expect(await readLines(second)).toHaveLength(1);
  await expect(readLines(first)).rejects.toThrow('does not go on at 2');
});

test('finds the entries of some methods since a time', async () => {
  await make('1');
  now += 1;
  await log.complete(await log.begin({ ...change('2'), method: 'Other' }), []);
  await make('3');
  await log.seal();
  const found: string[] = [];
  for await (const { subject } of log.readEntries([change('').method], now)) found.push(...subject.ids);
  expect(found).toEqual(['3']);
});

test('a change whose process died becomes an entry after two minutes, and not a moment before', async () => {
  await log.begin(change('1'));
  now += undecidedMs - 1;
  await log.seal();
  expect(await listIds()).toEqual([]);
  now += 1;
  await log.seal();
  expect(await listIds()).toEqual(['1 unknown']);
});

test('several processes that seal at once append each change once, in one chain', async () => {
  for (let id = 0; id < 25; id++) await make(String(id));
  await Promise.all(Array.from({ length: 4 }, () => open().seal()));
  const ids = (await readEntries()).map(({ subject }) => Number(subject.ids[0]));
  expect(ids.toSorted((left, right) => left - right)).toEqual(Array.from({ length: 25 }, (_, id) => id));
  expect(await log.verify()).toMatchObject({ entries: 25, problems: [] });
});

// guarantee: C11
test('a process that dies at any write while it seals leaves a whole chain, and the next one completes it', async () => {
  const writes = await crashAtEachWrite(async (nth, when) => {
    for (const name of ['auditPending', 'auditEntries', 'auditPoints']) await collection(name).deleteMany({});
    await make('1');
    await make('2');
    const hasCrashed = await crashAtWrite(nth, when, () => log.seal());
    expect((await log.verify()).problems).toEqual([]);
    await log.seal();
    expect((await listIds()).toSorted()).toEqual(['1 done', '2 done']);
    expect((await log.verify()).problems).toEqual([]);
    return hasCrashed;
  });
  // An entry, the point and the pending change, for each of the two. A server may have a write repeated.
  expect(writes).toBeGreaterThanOrEqual(6);
});

test('a changed, removed or moved entry is found, also after more entries have come', async () => {
  const planted: [string, () => Promise<unknown>][] = [
    [
      'entry 2 was changed',
      () => collection('auditEntries').updateOne({ _id: 2 as never }, { $set: { 'actor.id': '8' } }),
    ],
    ['entry 3 stands where 2 should', () => collection('auditEntries').deleteOne({ _id: 2 as never })],
    ['the entries after 2, up to 3, are missing', () => collection('auditEntries').deleteOne({ _id: 3 as never })],
    ['entry 1 was changed', swapFirstTwo],
  ];
  for (const [problem, plant] of planted) {
    for (const name of ['auditPending', 'auditEntries', 'auditPoints']) await collection(name).deleteMany({});
    for (const id of ['1', '2', '3']) await make(id);
    await log.seal();
    expect((await log.verify()).problems).toEqual([]);
    await plant();
    expect((await log.verify()).problems, problem).toContain(problem);
    await make('4');
    await log.seal();
    expect((await log.verify()).problems, `${problem}, with one more`).not.toEqual([]);
  }
});

async function swapFirstTwo(): Promise<void> {
  const [first, second] = await collection('auditEntries').find().sort({ _id: 1 }).limit(2).toArray();
  await collection('auditEntries').replaceOne({ _id: 1 as never }, { ...second, _id: 1 as never });
  await collection('auditEntries').replaceOne({ _id: 2 as never }, { ...first, _id: 2 as never });
}

test('entries that are rewritten from one on are found against a point that was noted', async () => {
  for (const id of ['1', '2', '3']) await make(id);
  const noted = await log.seal();
  for (const name of ['auditEntries', 'auditPoints']) await collection(name).deleteMany({});
  for (const id of ['1', '9', '3']) await make(id);
  await log.seal();
  expect((await log.verify()).problems).toEqual([]);
  expect((await log.verify(noted && [noted])).problems).toEqual(['entry 3 is not the one that was there before']);
});

test('old entries are removed, and the others are checked as their continuation', async () => {
  await make('1');
  await make('2');
  await log.seal();
  const limit = now;
  now += 1;
  await make('3');
  await log.seal();
  await log.removeOlderThan(limit);
  expect(await listIds()).toHaveLength(3);
  await log.removeOlderThan(limit + 1);
  expect(await listIds()).toEqual(['3 done']);
  expect(await log.verify()).toMatchObject({ entries: 1, problems: [] });
  await log.removeOlderThan(now + 1);
  expect(await log.verify()).toMatchObject({ entries: 0, end: { number: 3 }, problems: [] });
  await make('4');
  await log.seal();
  expect(await readEntries()).toMatchObject([{ number: 4 }]);
  expect((await log.verify()).problems).toEqual([]);
  await collection('auditEntries').deleteOne({ _id: 4 as never });
  expect((await log.verify()).problems).toEqual(['the entries after 3, up to 4, are missing']);
});
