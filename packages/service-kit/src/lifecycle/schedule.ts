import { setTimeout } from 'node:timers/promises';
import type { Logger } from '@ticketing/runtime/logger.ts';
import type { Readiness } from '../observability/health.ts';

/** Work that is repeated at an interval. */
export interface ScheduledTask {
  name: string;
  /** How long to wait after the end of a run before the next. */
  everyMs: number;
  /** A run that has left work resolves with `more`: the next one comes after half a second, if that is sooner. */
  run(): Promise<unknown>;
}

/** Tasks that are running. */
export interface Schedule {
  /** Starts no further run, and waits for those that are in progress. */
  stop(): Promise<void>;
}

/** The pause between the parts of a large work leaves time for requests. */
const moreMs = 500;

/**
 * Runs tasks in the background while the service is ready. Runs of the same task never overlap. A run that fails is
 * logged, and the task is run again after its interval.
 *
 * Several replicas run the same schedule, so a task must use the store to make sure that its work is done once.
 */
export function startSchedule(tasks: readonly ScheduledTask[], readiness: Readiness, log: Logger): Schedule {
  const stopping = new AbortController();
  const running = tasks.map(async ({ name, everyMs, run }) => {
    while (!stopping.signal.aborted) {
      if (!readiness.isReady()) await untilReady(readiness, stopping.signal);
      if (stopping.signal.aborted) return;
      const result = await run().catch((error: unknown) => {
        log.warn({ err: error, task: name }, 'a scheduled run failed');
      });
      const waitMs = result === 'more' ? Math.min(everyMs, moreMs) : everyMs;
      await setTimeout(waitMs, undefined, { signal: stopping.signal }).catch(() => undefined);
    }
  });
  return {
    async stop() {
      stopping.abort();
      await Promise.all(running);
    },
  };
}

/** Resolves when the service is ready, or the signal aborts. */
function untilReady(readiness: Readiness, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const settle = () => {
      if (!readiness.isReady() && !signal.aborted) return;
      unsubscribe();
      signal.removeEventListener('abort', settle);
      resolve();
    };
    const unsubscribe = readiness.onChange(settle);
    signal.addEventListener('abort', settle);
    settle();
  });
}
