import { createHash } from 'node:crypto';

/**
 * The outcome of a change: it was made, or nobody knows, because the process died or could not find out.
 */
export type AuditOutcome = 'done' | 'unknown';

/** A change as the audit log names it: ids only, never contents, names of people or secrets. */
export interface AuditedChange {
  /** The kind and the id of the profile that made it, or "service" and the name of a service. */
  actor: { kind: string; id: string };
  /** The method that was called, for example "ticketing.settings.v1.WebhookService.UpdateWebhook". */
  method: string;
  subject: { kind: string; ids: readonly string[] };
  /** The names of the fields that the request sets; empty for a method without a field mask. */
  fields: readonly string[];
  /** The id of the trace, under which the log has the request. */
  traceId: string;
}

/** An entry of the audit log. Its number follows the number of the entry before it. */
export interface AuditEntry extends AuditedChange {
  number: number;
  /** Identifies the change: an entry is appended once. */
  changeId: string;
  /** When the request came, in RFC 3339. */
  at: string;
  outcome: AuditOutcome;
  /** The hash of the entry before it. */
  previous: string;
  /** The hash of all fields above. */
  hash: string;
}

/** A point in a chain: the number of an entry, and its hash. */
export interface ChainPoint {
  number: number;
  hash: string;
}

/**
 * Returns the point before the first entry of a service. It differs for each service, so that no entry fits into two
 * chains.
 */
export function chainStart(service: string): ChainPoint {
  return { number: 0, hash: hashText(`audit log of ${service}`) };
}

/** Returns the entry that follows a point. */
export function entryAfter(
  { number, hash }: ChainPoint,
  change: Omit<AuditEntry, 'number' | 'previous' | 'hash'>,
): AuditEntry {
  const entry = { ...change, number: number + 1, previous: hash };
  return { ...entry, hash: hashEntry(entry) };
}

/** The result of checking a chain: its entries, the last point, and the problems in words. */
export interface ChainReport {
  entries: number;
  end: ChainPoint;
  problems: string[];
}

const maxProblems = 20;

/**
 * Checks that entries follow a point without a gap, that none was changed, added, removed or moved, and that each of the
 * known points is among them: one that is not kept any more proves nothing. It reports at most 20 problems.
 */
export async function checkChain(
  start: ChainPoint,
  entries: AsyncIterable<AuditEntry> | Iterable<AuditEntry>,
  known: readonly ChainPoint[] = [],
): Promise<ChainReport> {
  const problems: string[] = [];
  const report = (text: string) => {
    if (problems.length < maxProblems) problems.push(text);
  };
  let end = start;
  let count = 0;
  const check = (point: ChainPoint) => {
    const differs = known.some(({ number, hash }) => number === point.number && hash !== point.hash);
    if (differs) report(`entry ${point.number} is not the one that was there before`);
  };
  for (const { number } of known) {
    if (number < start.number) report(`entry ${number} is not kept any more, so it cannot be compared`);
  }
  check(start);
  for await (const entry of entries) {
    count += 1;
    if (entry.number !== end.number + 1) report(`entry ${entry.number} stands where ${end.number + 1} should`);
    else if (entry.previous !== end.hash) report(`entry ${entry.number} does not follow the one before it`);
    if (entry.hash !== hashEntry(entry)) report(`entry ${entry.number} was changed`);
    end = { number: entry.number, hash: entry.hash };
    check(end);
  }
  const last = Math.max(0, ...known.map(({ number }) => number));
  if (last > end.number) report(`the entries after ${end.number}, up to ${last}, are missing`);
  return { entries: count, end, problems };
}

/** Returns the hash of an entry: of its values in a fixed order, as JSON. */
function hashEntry(entry: Omit<AuditEntry, 'hash'>): string {
  const { number, changeId, at, actor, method, subject, fields, traceId, outcome, previous } = entry;
  return hashText(
    JSON.stringify([
      number,
      changeId,
      at,
      actor.kind,
      actor.id,
      method,
      subject.kind,
      subject.ids,
      fields,
      traceId,
      outcome,
      previous,
    ]),
  );
}

function hashText(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}
