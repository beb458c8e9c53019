import type { SessionCount } from '../import/import-session.ts';

/** How many mails have been taken in or refused so far. */
export interface MailCount extends SessionCount {
  files: number;
  tickets: number;
  messages: number;
  alreadyKnown: number;
  startedMs: number;
}

/** The counts at the start of an import. */
export function newMailCount(files: number, startedMs: number): MailCount {
  return {
    files,
    tickets: 0,
    messages: 0,
    alreadyKnown: 0,
    rejected: 0,
    startedMs,
    waiting: { untilMs: 0, reason: '' },
    get doneFraction() {
      return countDone(this) / Math.max(1, files);
    },
  };
}

/** How many mails are done. */
export function countDone({ tickets, messages, alreadyKnown, rejected }: MailCount): number {
  return tickets + messages + alreadyKnown + rejected;
}

/** The progress of the import, in one line. */
export function mailProgress(count: MailCount, nowMs: number): string {
  const parts = [
    `${countDone(count)} of ${count.files} mails`,
    `${count.tickets} tickets`,
    `${count.messages} added to tickets`,
    `${count.alreadyKnown} already known`,
    `${count.rejected} refused`,
    `${Math.round(measureRate(count, nowMs))} mails/s`,
  ];
  const left = count.waiting.untilMs - nowMs;
  if (left > 0) parts.push(`waiting ${Math.ceil(left / 1000)} s (${count.waiting.reason})`);
  return parts.join(', ');
}

/** The summary that is printed at the end; undefined if no mail was sent. */
export function mailSummary(count: MailCount, nowMs: number): string | undefined {
  if (countDone(count) === 0) return undefined;
  const lines: [string, string][] = [
    ['files', String(count.files)],
    ['tickets', String(count.tickets)],
    ['added', String(count.messages)],
    ['already known', String(count.alreadyKnown)],
    ['refused', String(count.rejected)],
    ['not sent', String(count.files - countDone(count))],
    ['seconds', ((nowMs - count.startedMs) / 1000).toFixed(1)],
    ['mails/s', measureRate(count, nowMs).toFixed(1)],
  ];
  return lines.map(([name, value]) => `${name.padEnd(14)} ${value}`).join('\n');
}

function measureRate(count: MailCount, nowMs: number): number {
  return countDone(count) / Math.max(0.001, (nowMs - count.startedMs) / 1000);
}
