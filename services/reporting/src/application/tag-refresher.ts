import { startWakefulLoop, type WakefulLoop } from '@ticketing/runtime/wakeful-loop.ts';
import type { Context } from './context.ts';
import { refreshTags } from './projection.ts';

/** What brings new names of tags to the rows. */
export interface TagRefresher {
  start(): WakefulLoop;
  /** Says that names of tags have changed; does nothing before it is started. */
  wake(): void;
}

const pollMs = { busy: 1_000, idle: 5_000 };

/** Makes the refresher. It takes up what other processes were asked for too, should these have died. */
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
          if (failures === 0) context.log.warn({ err: error }, 'new names of tags wait');
          return pollMs.busy;
        },
      });
      return started;
    },
  };
}
