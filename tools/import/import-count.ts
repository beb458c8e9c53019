/** What became of the rows so far. */
export interface ImportCount {
  created: number;
  alreadyThere: number;
  rejected: number;
  tagsCreated: number;
  startedMs: number;
  /** How much of the file, or of the rows asked for, is dealt with: 0 to 1. */
  share: number;
  /** Why the server lets the import wait; empty while it does not. */
  waiting: { untilMs: number; reason: string };
}

export function newCount(startedMs: number): ImportCount {
  return {
    created: 0,
    alreadyThere: 0,
    rejected: 0,
    tagsCreated: 0,
    startedMs,
    share: 0,
    waiting: { untilMs: 0, reason: '' },
  };
}

/** Answers how many rows were dealt with. */
export function rowsOf(count: ImportCount): number {
  return count.created + count.alreadyThere + count.rejected;
}

/** Says in one line how far the import is. */
export function progressLine(count: ImportCount, nowMs: number): string {
  const seconds = Math.max(0.001, (nowMs - count.startedMs) / 1000);
  const parts = [
    `${Math.floor(count.share * 100)} %`,
    `${rowsOf(count)} rows`,
    `${count.created} created`,
    `${count.alreadyThere} already there`,
    `${count.rejected} rejected`,
    `${Math.round(count.created / seconds)} tickets/s`,
  ];
  const left = count.waiting.untilMs - nowMs;
  if (left > 0) parts.push(`waiting ${Math.ceil(left / 1000)} s (${count.waiting.reason})`);
  return parts.join(', ');
}

/** Says at the end what was done. */
export function summaryOf(count: ImportCount, nowMs: number): string {
  const seconds = Math.max(0.001, (nowMs - count.startedMs) / 1000);
  const lines: [string, string][] = [
    ['rows', String(rowsOf(count))],
    ['created', String(count.created)],
    ['already there', String(count.alreadyThere)],
    ['rejected', String(count.rejected)],
    ['tags created', String(count.tagsCreated)],
    ['seconds', seconds.toFixed(1)],
    ['tickets/s', (count.created / seconds).toFixed(1)],
  ];
  return lines.map(([name, value]) => `${name.padEnd(14)} ${value}`).join('\n');
}
