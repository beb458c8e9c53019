import type { SessionCount } from './import-session.ts';

/** How many rows of tickets have been imported or rejected so far. */
export interface ImportCount extends SessionCount {
  created: number;
  alreadyThere: number;
  /** How many rows have an answer that the system has now, whenever it was stored. */
  answers: number;
  tagsCreated: number;
  startedMs: number;
}

/** The counts at the start of an import. */
export function newCount(startedMs: number): ImportCount {
  return {
    created: 0,
    alreadyThere: 0,
    rejected: 0,
    answers: 0,
    tagsCreated: 0,
    startedMs,
    doneFraction: 0,
    waiting: { untilMs: 0, reason: '' },
  };
}

/** How many rows are done. */
export function toRows(count: ImportCount): number {
  return count.created + count.alreadyThere + count.rejected;
}

/** The progress of the import, in one line. */
export function progressLine(count: ImportCount, nowMs: number): string {
  const seconds = Math.max(0.001, (nowMs - count.startedMs) / 1000);
  const parts = [
    `${Math.floor(count.doneFraction * 100)} %`,
    `${toRows(count)} rows`,
    `${count.created} created`,
    `${count.alreadyThere} already there`,
    `${count.rejected} rejected`,
    `${Math.round(count.created / seconds)} tickets/s`,
  ];
  return [...parts, ...describeWait(count, nowMs)].join(', ');
}

/** Why and how long the import waits, as a part of its progress; empty if it does not wait. */
export function describeWait({ waiting }: SessionCount, nowMs: number): string[] {
  const left = waiting.untilMs - nowMs;
  return left > 0 ? [`waiting ${Math.ceil(left / 1000)} s (${waiting.reason})`] : [];
}

/** The summary that is printed at the end. */
export function renderSummary(count: ImportCount, nowMs: number): string {
  const seconds = Math.max(0.001, (nowMs - count.startedMs) / 1000);
  const lines: [string, string][] = [
    ['rows', String(toRows(count))],
    ['created', String(count.created)],
    ['already there', String(count.alreadyThere)],
    ['rejected', String(count.rejected)],
    ['answers', String(count.answers)],
    ['tags created', String(count.tagsCreated)],
    ['seconds', seconds.toFixed(1)],
    ['tickets/s', (count.created / seconds).toFixed(1)],
  ];
  return renderTable(lines);
}

/** The lines of a summary. */
export function renderTable(lines: readonly [string, string][]): string {
  return lines.map(([name, value]) => `${name.padEnd(14)} ${value}`).join('\n');
}
