import { readFileSync } from 'node:fs';

/**
 * Returns how long a process has waited for a processor since it was started, in ms: its main thread could run, but other
 * processes did. 0 where the operating system does not report it (Linux does), and for a process that has ended.
 */
export function waitedForProcessor(processId: number | undefined): number {
  if (processId === undefined) return 0;
  try {
    // Nanoseconds that it ran, nanoseconds that it waited, and how often it ran.
    const [, waited] = readFileSync(`/proc/${processId}/schedstat`, 'latin1').split(' ');
    return Number(waited) / 1e6 || 0;
  } catch {
    return 0;
  }
}
