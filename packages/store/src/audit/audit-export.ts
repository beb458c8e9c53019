import { type AuditEntry, type ChainPoint, type ChainReport, chainStart, checkChain } from './audit-chain.ts';
import type { AuditLog } from './audit-log.ts';

/** The first line of an export: whose log it is, and the point that its first entry follows. */
interface ExportHead {
  service: string;
  after: ChainPoint;
}

/**
 * Prints the audit log of a service as lines of JSON: one that says where it begins, and then an entry each. It begins with
 * the first entry that is kept, or with the one after a point at which an earlier export has ended.
 *
 * Errors: store_unavailable; an Error if the log does not have this point, or not the entry after it.
 */
export async function exportAuditLog(
  log: Pick<AuditLog, 'entries' | 'verify'>,
  service: string,
  print: (line: string) => void,
  from?: ChainPoint,
): Promise<void> {
  let isFirst = true;
  const begin = (after: ChainPoint) => {
    if (from && (after.number !== from.number || after.hash !== from.hash)) {
      throw new Error(
        `The audit log of ${service} does not go on at ${from.number}: the entry was altered, or is not kept any more.`,
      );
    }
    const head: ExportHead = { service, after };
    if (isFirst) print(JSON.stringify(head));
    isFirst = false;
  };
  for await (const entry of log.entries(from?.number)) {
    if (isFirst) begin({ number: entry.number - 1, hash: entry.previous });
    print(JSON.stringify(entry));
  }
  if (isFirst) begin((await log.verify()).end);
}

/** Checks an export, also against points of the log that somebody has noted. Errors: an Error for a file that is no export. */
export async function checkExport(
  lines: readonly string[],
  noted: readonly ChainPoint[] = [],
): Promise<ChainReport & { service: string }> {
  const [head, ...entries] = lines.map((line) => JSON.parse(line) as unknown);
  if (!isHead(head)) throw new Error('The first line is not that of an exported audit log.');
  const { service, after } = head;
  const start = after.number === 0 ? chainStart(service) : after;
  return { service, ...(await checkChain(start, entries.map(requireEntry), noted)) };
}

function requireEntry(value: unknown, index: number): AuditEntry {
  if (isEntry(value)) return value;
  throw new Error(`Line ${index + 2} is no entry of an audit log.`);
}

/** Whether a value has the parts of an entry that are read before its hash is compared. */
function isEntry(value: unknown): value is AuditEntry {
  if (typeof value !== 'object' || value === null || !('number' in value && 'actor' in value && 'subject' in value)) {
    return false;
  }
  const { number, actor, subject } = value;
  return typeof number === 'number' && [actor, subject].every((part) => typeof part === 'object' && part !== null);
}

function isHead(value: unknown): value is ExportHead {
  if (typeof value !== 'object' || value === null || !('service' in value) || !('after' in value)) return false;
  const { service, after } = value;
  if (typeof service !== 'string' || typeof after !== 'object' || after === null) return false;
  return 'number' in after && 'hash' in after && typeof after.number === 'number' && typeof after.hash === 'string';
}

/** Reads a noted point, `number:hash` as a check prints it. Errors: an Error for another text. */
export function readPoint(text: string): ChainPoint {
  const [, number, hash = ''] = /^(\d{1,15}):([0-9a-f]{64})$/.exec(text) ?? [];
  if (number === undefined) throw new Error(`"${text}" is no point of an audit log, such as 12:5f….`);
  return { number: Number(number), hash };
}

/** Describes the findings of a check, in lines. */
export function reportLines(service: string, { entries, end, problems }: ChainReport): string[] {
  const all = `${entries} ${entries === 1 ? 'entry' : 'entries'}, up to ${end.number}:${end.hash}`;
  if (problems.length === 0) return [`${service}: ${all}: nothing was changed`];
  return [`${service}: ${all}: THE LOG IS NOT AS IT WAS`, ...problems.map((problem) => `${service}: ${problem}`)];
}
