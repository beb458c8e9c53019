import { appendFileSync, existsSync, readFileSync } from 'node:fs';
import { isObject, type JsonObject, parseJson } from '../../tools/import/json.ts';

/**
 * Opens the file in which a client records what it has received, one JSON object per line. What was recorded outlives the
 * death of the client. A line in whose middle the client before died stays apart from those that follow.
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
