import type { ChildProcess } from 'node:child_process';
import { appendFileSync, mkdirSync } from 'node:fs';
import { dirname } from 'node:path';
import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';
import { isObject, parseJson } from '../../tools/import/json.ts';

/** What the processes of a system print. */
export interface SystemLog {
  file: string;
  /** Keeps what a process prints. */
  listen(child: Pick<ChildProcess, 'stdout' | 'stderr'>): void;
  /** Adds a line of this program. */
  note(line: string): void;
  /** The last lines. */
  tail(): string;
  /** How often each service has logged each sentence, the most frequent first. */
  counts(): { sentence: string; count: number }[];
}

const tailLines = 20;

/** Keeps what processes print in a file, and counts the sentences. */
export function keepLog(file: string): SystemLog {
  mkdirSync(dirname(file), { recursive: true });
  const counts = new Map<string, number>();
  const last: string[] = [];

  function keep(line: string): void {
    appendFileSync(file, `${line}\n`);
    last.push(line);
    if (last.length > tailLines) last.shift();
    const sentence = sentenceOf(line);
    if (sentence !== undefined) counts.set(sentence, (counts.get(sentence) ?? 0) + 1);
  }

  const read = (stream: Readable | null) => {
    if (stream) createInterface({ input: stream }).on('line', keep);
  };
  return {
    file,
    listen({ stdout, stderr }) {
      read(stdout);
      read(stderr);
    },
    note: (line) => keep(`faults: ${new Date().toISOString()} ${line}`),
    tail: () => last.join('\n'),
    counts: () =>
      [...counts].map(([sentence, count]) => ({ sentence, count })).sort((left, right) => right.count - left.count),
  };
}

const levels = new Map([
  [40, 'warning'],
  [50, 'error'],
  [60, 'fatal'],
]);

/** What a line of a service's log says, without what differs each time; undefined for any other line. */
export function sentenceOf(line: string): string | undefined {
  const entry = line.startsWith('{') ? parseJson(line) : undefined;
  if (!isObject(entry) || typeof entry.level !== 'number') return undefined;
  const cause = isObject(entry.err) ? [entry.err.type, entry.err.message].filter(Boolean).join(': ') : '';
  const text = `${levels.get(entry.level) ?? entry.level} ${entry.name}: ${entry.msg}${cause === '' ? '' : ` (${cause})`}`;
  return text.split('\n', 1)[0]?.replaceAll(/\d+/g, '#').slice(0, 200);
}
