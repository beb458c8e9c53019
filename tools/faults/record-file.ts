import { appendFileSync, existsSync, readFileSync } from 'node:fs';
import { isObject, type JsonObject, parseJson } from '../import/json.ts';

/**
 * Opens the file in which a client records what it has received, one JSON object per line. The records outlive the
 * death of the client. If the previous client died in the middle of a line, the next record starts on a new line.
 */
export function openRecords(file: string): { add(records: readonly JsonObject[]): void } {
  if (existsSync(file) && !readFileSync(file, 'utf8').endsWith('\n')) appendFileSync(file, '\n');
  return {
    add: (records) => appendFileSync(file, records.map((one) => `${JSON.stringify(one)}\n`).join('')),
  };
}

/** Reads what a client has recorded. A record in whose middle it died is left out: it was not acknowledged. */
export function readRecords(file: string): JsonObject[] {
  if (!existsSync(file)) return [];
  return readFileSync(file, 'utf8').split('\n').map(parseJson).filter(isObject);
}
