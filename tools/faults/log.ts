import type { ChildProcess } from 'node:child_process';
import { appendFileSync, mkdirSync } from 'node:fs';
import { dirname } from 'node:path';
import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';
import { isObject, parseJson } from '../import/json.ts';

/** The output of the processes of a system. */
export interface SystemLog {
  file: string;
  /** Adds what a process prints from now on. */
  listen(child: Pick<ChildProcess, 'stdout' | 'stderr'>): void;
  /** Adds a line of this program. */
  note(line: string): void;
  /** The last lines. */
  tail(): string;
  /** How often each sentence was logged, the most frequent first. */
  counts(): { sentence: string; count: number }[];
}

const tailLines = 20;

/** Opens a log that writes the output of processes to a file, and counts the sentences in it. */
export function openLog(file: string): SystemLog {
  mkdirSync(dirname(file), { recursive: true });
  const counts = new Map<string, number>();
  const last: string[] = [];

  function keep(line: string): void {
    appendFileSync(file, `${line}\n`);
    last.push(line);
    if (last.length > tailLines) last.shift();
    const sentence = readSentence(line);
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

/** Describes a log line of a service, without numbers, so that equal events count as one; undefined for any other line. */
export function readSentence(line: string): string | undefined {
  const entry = line.startsWith('{') ? parseJson(line) : undefined;
  if (!isObject(entry) || typeof entry.level !== 'number') return undefined;
  const cause = isObject(entry.err) ? [entry.err.type, entry.err.message].filter(Boolean).join(': ') : '';
  const text = `${levels.get(entry.level) ?? entry.level} ${entry.name}: ${entry.msg}${cause === '' ? '' : ` (${cause})`}`;
  return text.split('\n', 1)[0]?.replaceAll(/\d+/g, '#').slice(0, 200);
}
