import { runs } from '@ticketing/testkit/search-effort.ts';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { type AuditEntry, chainStart, checkChain, entryAfter } from './audit-chain.ts';

const start = chainStart('settings');

/** The parts of a change that the chain does not give it. */
const changes = fc.record({
  changeId: fc.uuid(),
  at: fc
    .date({ min: new Date(0), max: new Date('2100-01-01T00:00:00Z'), noInvalidDate: true })
    .map((at) => at.toISOString()),
  actor: fc.record({ kind: fc.constantFrom('user', 'service'), id: fc.string({ maxLength: 5 }) }),
  method: fc.constantFrom('UpdateWebhook', 'DeleteTicket'),
  subject: fc.record({ kind: fc.constantFrom('Webhook', 'Ticket'), ids: fc.array(fc.string(), { maxLength: 3 }) }),
  fields: fc.array(fc.string(), { maxLength: 3 }),
  traceId: fc.string(),
  outcome: fc.constantFrom('done' as const, 'unknown' as const),
});

const chains = fc
  .uniqueArray(changes, { minLength: 1, maxLength: 12, selector: ({ changeId }) => changeId })
  .map((all) => toChain(all));

function toChain(all: readonly Omit<AuditEntry, 'number' | 'previous' | 'hash'>[]): AuditEntry[] {
  const entries: AuditEntry[] = [];
  for (const change of all) entries.push(entryAfter(entries.at(-1) ?? start, change));
  return entries;
}

const findProblems = async (entries: readonly AuditEntry[], known: readonly AuditEntry[] = []) =>
  (await checkChain(start, entries, known)).problems;

/** An entry with one of its values replaced by another, without a new hash. */
function changed(entry: AuditEntry, field: string): AuditEntry {
  const other: Record<string, Partial<AuditEntry>> = {
    number: { number: entry.number + 1 },
    changeId: { changeId: `${entry.changeId}x` },
    at: { at: '2200-01-01T00:00:00.000Z' },
    actorKind: { actor: { ...entry.actor, kind: `${entry.actor.kind}x` } },
    actorId: { actor: { ...entry.actor, id: `${entry.actor.id}x` } },
    method: { method: `${entry.method}x` },
    subjectKind: { subject: { ...entry.subject, kind: `${entry.subject.kind}x` } },
    ids: { subject: { ...entry.subject, ids: [...entry.subject.ids, ''] } },
    fields: { fields: [...entry.fields, 'url'] },
    traceId: { traceId: `${entry.traceId}x` },
    outcome: { outcome: entry.outcome === 'done' ? 'unknown' : 'done' },
    previous: { previous: start.hash.replaceAll('a', 'b') },
    hash: { hash: entry.hash.replace(/^./, (first) => (first === '0' ? '1' : '0')) },
  };
  return { ...entry, ...other[field] };
}
const fields = ['number', 'changeId', 'at', 'actorKind', 'actorId', 'method', 'subjectKind', 'ids', 'fields'].concat([
  'traceId',
  'outcome',
  'previous',
  'hash',
]);

test('a chain that nobody has touched has no problem, and none of its points is missing', async () => {
  await fc.assert(
    fc.asyncProperty(chains, async (entries) => {
      expect(await checkChain(start, entries, entries)).toEqual({
        entries: entries.length,
        end: expect.objectContaining({ number: entries.length, hash: entries.at(-1)?.hash }),
        problems: [],
      });
    }),
    { numRuns: runs(50, 2_000) },
  );
});

// asvs: 11.4.3, 14.2.4
test('a changed value of any entry is found', async () => {
  await fc.assert(
    fc.asyncProperty(chains, fc.nat(), fc.constantFrom(...fields), async (entries, nth, field) => {
      const index = nth % entries.length;
      const planted = entries.with(index, changed(entries[index] as AuditEntry, field));
      expect(await findProblems(planted)).not.toEqual([]);
    }),
    { numRuns: runs(200, 10_000) },
  );
});

test('a removed, repeated, moved or inserted entry is found; at the end only against a point that was there before', async () => {
  await fc.assert(
    fc.asyncProperty(chains, changes, fc.nat(), fc.nat(), async (entries, other, from, to) => {
      const index = from % entries.length;
      const entry = entries[index] as AuditEntry;
      const without = entries.toSpliced(index, 1);
      expect(await findProblems(without, entries.slice(-1))).not.toEqual([]);
      if (index < entries.length - 1) expect(await findProblems(without)).not.toEqual([]);
      expect(await findProblems(entries.toSpliced(index, 0, entry))).not.toEqual([]);
      const target = to % entries.length;
      if (target !== index) expect(await findProblems(without.toSpliced(target, 0, entry))).not.toEqual([]);
      const inserted = entryAfter(entries[index - 1] ?? start, other);
      expect(await findProblems(entries.toSpliced(index, 0, inserted))).not.toEqual([]);
    }),
    { numRuns: runs(100, 5_000) },
  );
});

// asvs: 16.4.2
test('an entry that was rewritten with all that follow it is found against a point that was there before', async () => {
  await fc.assert(
    fc.asyncProperty(chains, fc.nat(), async (entries, nth) => {
      const index = nth % entries.length;
      const rewritten = toChain(entries.with(index, changed(entries[index] as AuditEntry, 'actorId')));
      expect(await findProblems(rewritten)).toEqual([]);
      expect(await findProblems(rewritten, entries.slice(index))).not.toEqual([]);
    }),
    { numRuns: runs(50, 2_000) },
  );
});

test('a point before the first entry that is kept is reported, because nothing shows whether it is still the one', async () => {
  const change = { changeId: 'a', at: '2026-01-01T00:00:00.000Z', actor: { kind: 'user', id: '1' }, method: 'm' };
  const rest = { subject: { kind: 'Tag', ids: [] }, fields: [], traceId: '', outcome: 'done' as const };
  const [first, second, third] = toChain([1, 2, 3].map(() => ({ ...change, ...rest })));
  if (!first || !second || !third) return expect.unreachable();
  expect((await checkChain(second, [third], [second, third])).problems).toEqual([]);
  expect((await checkChain(second, [third], [first])).problems).toEqual([
    'entry 1 is not kept any more, so it cannot be compared',
  ]);
});

test('the entries of one service are no chain of another, and at most 20 problems are reported', async () => {
  const change = { changeId: 'a', at: '2026-01-01T00:00:00.000Z', actor: { kind: 'user', id: '1' }, method: 'm' };
  const rest = { subject: { kind: 'Tag', ids: [] }, fields: [], traceId: '', outcome: 'done' as const };
  const entries = toChain(Array.from({ length: 30 }, () => ({ ...change, ...rest })));
  expect((await checkChain(chainStart('tickets'), entries)).problems).toEqual([
    'entry 1 does not follow the one before it',
  ]);
  const all = entries.map((entry) => changed(entry, 'at'));
  expect(await findProblems(all)).toHaveLength(20);
});
