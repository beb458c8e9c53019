import type { SessionCount } from '../import/import-session.ts';

/** The counts of an import of knowledge so far. */
export interface KnowledgeCount extends SessionCount {
  files: number;
  created: number;
  updated: number;
  unchanged: number;
  folders: number;
  startedMs: number;
}

/** The counts at the start of an import. */
export function newKnowledgeCount(files: number, startedMs: number): KnowledgeCount {
  return {
    files,
    created: 0,
    updated: 0,
    unchanged: 0,
    rejected: 0,
    folders: 0,
    startedMs,
    waiting: { untilMs: 0, reason: '' },
    get doneFraction() {
      return countDone(this) / Math.max(1, files);
    },
  };
}

/** How many files are done. */
function countDone({ created, updated, unchanged, rejected }: KnowledgeCount): number {
  return created + updated + unchanged + rejected;
}

/** The progress of the import, in one line. */
export function knowledgeProgress(count: KnowledgeCount, nowMs: number): string {
  const parts = [
    `${countDone(count)} of ${count.files} files`,
    `${count.created} created`,
    `${count.updated} updated`,
    `${count.unchanged} unchanged`,
    `${count.rejected} refused`,
  ];
  const left = count.waiting.untilMs - nowMs;
  if (left > 0) parts.push(`waiting ${Math.ceil(left / 1000)} s (${count.waiting.reason})`);
  return parts.join(', ');
}

/** The summary that is printed at the end. */
export function knowledgeSummary(count: KnowledgeCount, nowMs: number): string {
  const lines: [string, string][] = [
    ['files', String(count.files)],
    ['created', String(count.created)],
    ['updated', String(count.updated)],
    ['unchanged', String(count.unchanged)],
    ['refused', String(count.rejected)],
    ['not sent', String(count.files - countDone(count))],
    ['new folders', String(count.folders)],
    ['seconds', ((nowMs - count.startedMs) / 1000).toFixed(1)],
  ];
  return lines.map(([name, value]) => `${name.padEnd(14)} ${value}`).join('\n');
}
