import { type LaterLoop, wakefulLoop } from '@ticketing/runtime/wakeful-loop.ts';
import type { RowParts } from './open.ts';
import { refreshTags } from './projection.ts';

const pollMs = { busy: 1_000, idle: 5_000 };

/**
 * Makes the loop that updates the rows of changed tags in the background. It also continues what other processes left
 * unfinished.
 */
export function tagRefresher(parts: RowParts, opened: Promise<void>): LaterLoop {
  return wakefulLoop({
    pollMs,
    after: opened,
    run: async (signal) => ((await refreshTags(parts, signal)) > 0 ? 'done' : 'nothing'),
    onError(error, failures) {
      if (failures === 0) parts.log.warn({ err: error }, 'the rows of changed tags cannot be updated; trying again');
      return pollMs.busy;
    },
  });
}
