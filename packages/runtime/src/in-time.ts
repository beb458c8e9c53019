import { setTimeout } from 'node:timers/promises';

/** Resolves to "late" if the work has not ended in time. Errors: those of the work. */
export async function inTime<Result>(work: Promise<Result>, ms: number): Promise<Result | 'late'> {
  const done = new AbortController();
  const late = setTimeout(ms, 'late' as const, { signal: done.signal }).catch(() => 'late' as const);
  try {
    return await Promise.race([work, late]);
  } finally {
    done.abort();
  }
}
