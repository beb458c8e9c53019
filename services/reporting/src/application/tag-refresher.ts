import type { Logger } from '@ticketing/runtime/logger.ts';
import { startWakefulLoop, type WakefulLoop } from '@ticketing/runtime/wakeful-loop.ts';
import { type Projection, refreshTags } from './projection.ts';

const pollMs = 1_000;

/** Starts what brings new names of tags to the rows. Those of other processes are taken up too, should these have died. */
export function startTagRefresher(projection: Projection, opened: Promise<void>, log: Logger): WakefulLoop {
  return startWakefulLoop({
    pollMs,
    after: opened,
    async run(signal) {
      await refreshTags(projection, signal);
      return false;
    },
    onError(error, failures) {
      if (failures === 0) log.warn({ err: error }, 'new names of tags wait');
      return pollMs;
    },
  });
}
