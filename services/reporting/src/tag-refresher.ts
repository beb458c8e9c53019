import { EventEmitter, once } from 'node:events';
import { setTimeout } from 'node:timers/promises';
import type { Logger } from '@ticketing/service-kit/logger.ts';
import { type Projection, refreshTags } from './projection.ts';

/** What brings new names of tags to the rows. */
export interface TagRefresher {
  wake(): void;
  stop(): Promise<void>;
}

const pollMs = 1_000;

/** Starts what brings new names of tags to the rows. Those of other processes are taken up too, should these have died. */
export function startTagRefresher(projection: Projection, opened: Promise<void>, log: Logger): TagRefresher {
  const stopping = new AbortController();
  const wakes = new EventEmitter();
  let isFailing = false;

  async function run(): Promise<void> {
    await Promise.race([opened, once(stopping.signal, 'abort')]);
    while (!stopping.signal.aborted) {
      const done = new AbortController();
      const signal = AbortSignal.any([done.signal, stopping.signal]);
      const either = [once(wakes, 'wake', { signal }), setTimeout(pollMs, undefined, { signal })];
      try {
        await refreshTags(projection, stopping.signal);
        isFailing = false;
      } catch (error) {
        if (!isFailing && !stopping.signal.aborted) log.warn({ err: error }, 'new names of tags wait');
        isFailing = true;
      }
      await Promise.race(either).catch(() => undefined);
      done.abort();
      await Promise.allSettled(either);
    }
  }

  const ended = run();
  return {
    wake: () => void wakes.emit('wake'),
    async stop() {
      stopping.abort();
      await ended;
    },
  };
}
