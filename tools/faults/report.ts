import type { FaultCount } from './disturb.ts';
import type { ExecutionVerdict } from './execution-verdict.ts';
import type { Ledger } from './ledger.ts';
import type { MessageVerdict } from './message-verdict.ts';
import type { Recoveries } from './recovery.ts';
import type { StoredMessages } from './stored-messages.ts';
import type { SubscribersVerdict } from './subscribers.ts';
import type { Verdict } from './verdict.ts';

/** The table that is printed at the end of a run. */
export function table(count: FaultCount, { acknowledged, refreshes }: Ledger, verdict: Verdict): string {
  const kills = [...count.killsOf].sort(([left], [right]) => left.localeCompare(right));
  const rows: [string, string | number][] = [
    ['kills', `${count.kills}  (${kills.map(([name, times]) => `${name} ${times}`).join(', ')})`],
    ['freezes', count.freezes],
    ['acknowledged', acknowledged],
    ['analyses requested', refreshes],
    ['published', verdict.published],
    ['delivered', verdict.delivered],
    ['duplicates', verdict.duplicates],
    ['out of order', mustBeEmpty(verdict.outOfOrder)],
    ['lost', mustBeEmpty(verdict.lost)],
    ['events without a change', mustBeEmpty(verdict.eventsWithoutChange)],
    ['bulks applied in part', mustBeEmpty(verdict.partialBulks)],
    ['rows that differ', mustBeEmpty(verdict.rowsThatDiffer)],
    ['deleted, but seen again', mustBeEmpty(verdict.revivedAfterDeletion)],
    ['opened by the scheduler', verdict.reopenings],
    ['opened twice', mustBeEmpty(verdict.reopenedTwice)],
  ];
  return columns(rows);
}

/** The table of messages, mails and files. */
export function messageTable(verdict: MessageVerdict, { leftOver, missingFiles }: StoredMessages): string {
  return columns([
    ['messages acknowledged', verdict.acknowledged],
    ['messages listed', verdict.listed],
    ['mails sent', `${verdict.sent}  (${verdict.sentAgain} came again)`],
    ['messages lost', mustBeEmpty(verdict.lost)],
    ['messages unexpected', mustBeEmpty(verdict.unexpected)],
    ['mails that differ', mustBeEmpty(verdict.wrongMails)],
    ['counts that differ', mustBeEmpty(verdict.countsThatDiffer)],
    ['message events that differ', mustBeEmpty(verdict.wrongEvents)],
    ['left over', mustBeEmpty(leftOver)],
    ['files missing', mustBeEmpty(missingFiles)],
  ]);
}

/** The table of intents. */
export function executionTable(verdict: ExecutionVerdict): string {
  return columns([
    ['intents shown', verdict.proposed],
    ['executions acknowledged', verdict.acknowledged],
    ['carried out', verdict.effects],
    ['carried out twice', mustBeEmpty(verdict.twice)],
    ['results that differ', mustBeEmpty(verdict.wrongResults)],
    ['events of executions missing', mustBeEmpty(verdict.wrongEvents)],
    ['tickets not analysed', mustBeEmpty(verdict.notAnalysed)],
  ]);
}

function mustBeEmpty(found: readonly string[]): string {
  return `${found.length}${found.length > 0 ? '  must be 0' : ''}`;
}

function columns(rows: readonly (readonly [name: string, value: string | number])[]): string {
  const width = Math.max(...rows.map(([name]) => name.length));
  return lines(rows.map(([name, value]) => `${name.padEnd(width)}  ${value}`));
}

/** The table of the receivers of webhooks and readers of the feed, and what the log of deliveries shows. */
export function subscriberTable({ subscribers, responsesShown, redelivered, wrong }: SubscribersVerdict): string {
  const head = ['', 'expected', 'received', 'duplicates', 'out of order', 'lost', 'unexpected'];
  const rows = subscribers.map(({ name, expected, received, duplicates, outOfOrder, lost, unexpected }) =>
    [name, expected, received, duplicates, outOfOrder.length, lost.length, unexpected.length].map(String),
  );
  const width = Math.max(...rows.map(([name = '']) => name.length));
  const line = ([name = '', ...counts]: readonly string[]) =>
    [name.padEnd(width), ...counts.map((count, column) => count.padStart(head[column + 1]?.length ?? 0))].join('  ');
  return lines([
    ...[head, ...rows].map(line),
    `${redelivered} deliveries were sent again by an operator, ${responsesShown} attempts show a response, ${wrong.length} deliveries are wrong`,
  ]);
}

/**
 * One line per kind of fault: how long until changes were acknowledged again. Other faults may have followed meanwhile.
 */
export function recoveryTable(recoveries: Recoveries): string {
  const durations = recoveries.durations().sort((left, right) => right.longestMs - left.longestMs);
  const seconds = (ms: number) => `${(ms / 1000).toFixed(1)} s`;
  const width = Math.max(0, ...durations.map(({ what }) => what.length));
  return lines(
    durations.map(
      ({ what, count, medianMs, longestMs }) =>
        `${what.padEnd(width)}  ${String(count).padStart(3)} times; the next change was acknowledged after ${seconds(medianMs)} (median), ${seconds(longestMs)} at most`,
    ),
  );
}

/** How many responses had each status, in one line. */
export function statusLine(counts: ReadonlyMap<number, number>): string {
  const sorted = [...counts].sort(([left], [right]) => left - right);
  return sorted.map(([status, count]) => `${status === 0 ? 'no response' : status}: ${count}`).join(', ');
}

/** Joins lines, each ended by a line break. */
export function lines(all: readonly string[]): string {
  return all.map((line) => `${line}\n`).join('');
}
