import type { FaultCount } from './disturb.ts';
import type { Recoveries } from './recovery.ts';
import type { Verdict } from './verdict.ts';

/** Writes the table that a run ends with. */
export function table(count: FaultCount, acknowledged: number, verdict: Verdict): string {
  const mustBeNone = (found: readonly string[]) => `${found.length}${found.length > 0 ? '  must be 0' : ''}`;
  const rows: [string, string | number][] = [
    ['kills', count.kills],
    ['freezes', count.freezes],
    ['acknowledged', acknowledged],
    ['published', verdict.published],
    ['delivered', verdict.delivered],
    ['duplicates', verdict.duplicates],
    ['out of order', mustBeNone(verdict.outOfOrder)],
    ['lost', mustBeNone(verdict.lost)],
    ['events of no change', mustBeNone(verdict.unfounded)],
    ['bulks not whole', mustBeNone(verdict.tornBulks)],
    ['rows that differ', mustBeNone(verdict.rowsThatDiffer)],
    ['deleted that came back', mustBeNone(verdict.cameBack)],
  ];
  const width = Math.max(...rows.map(([name]) => name.length));
  return lines(rows.map(([name, value]) => `${name.padEnd(width)}  ${value}`));
}

/** Writes how long it took until changes were acknowledged again, by fault; other faults may have followed meanwhile. */
export function recoveryTable(recoveries: Recoveries): string {
  const times = recoveries.times().sort((left, right) => right.longestMs - left.longestMs);
  const seconds = (ms: number) => `${(ms / 1000).toFixed(1)} s`;
  const width = Math.max(0, ...times.map(({ what }) => what.length));
  return lines(
    times.map(
      ({ what, count, middleMs, longestMs }) =>
        `${what.padEnd(width)}  ${String(count).padStart(3)} times, a change is acknowledged again after ${seconds(middleMs)}, at most ${seconds(longestMs)}`,
    ),
  );
}

/** Writes how often each status was answered. */
export function answerLine(answers: ReadonlyMap<number, number>): string {
  const sorted = [...answers].sort(([left], [right]) => left - right);
  return sorted.map(([status, count]) => `${status === 0 ? 'none' : status}: ${count}`).join(', ');
}

/** Writes lines, each ended. */
export function lines(all: readonly string[]): string {
  return all.map((line) => `${line}\n`).join('');
}
