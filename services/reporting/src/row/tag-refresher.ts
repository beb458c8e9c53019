import { startWakefulLoop, type WakefulLoop } from '@ticketing/runtime/wakeful-loop.ts';
import type { Context } from '../context.ts';
import { refreshTags } from './projection.ts';

/** Updates the rows of tags that have changed, in the background. */
export interface TagRefresher {
  start(): WakefulLoop;
  /** Looks for changed tags at once. Does nothing before `start`. */
  wake(): void;
}

const pollMs = { busy: 1_000, idle: 5_000 };

/** Makes the refresher. It also continues what other processes left unfinished. */
export function tagRefresher(context: Context, opened: Promise<void>): TagRefresher {
  let started: WakefulLoop | undefined;
  return {
    wake: () => started?.wake(),
    start() {
      started = startWakefulLoop({
        pollMs,
        after: opened,
        run: async (signal) => ((await refreshTags(context, signal)) > 0 ? 'done' : 'nothing'),
        onError(error, failures) {
          if (failures === 0) {
            context.log.warn({ err: error }, 'the rows of changed tags cannot be updated; trying again');
          }
          return pollMs.busy;
        },
      });
      return started;
    },
  };
}
