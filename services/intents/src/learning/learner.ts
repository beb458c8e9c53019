import { startWakefulLoop, type WakefulLoop, type WorkFound } from '@ticketing/runtime/wakeful-loop.ts';
import type { Kit } from '@ticketing/service-kit/lifecycle/kit.ts';
import type { Context } from '../context.ts';
import { learnModel } from './learn-model.ts';
import { readDecision } from './read-decision.ts';

const pollMs = { busy: 250, idle: 4_000 };
const maxPauseMs = 10_000;

/**
 * Starts the loop that learns: it reads the tickets that somebody has decided something about, and when none is left,
 * it learns a model if that is due. Several processes share both by leases.
 *
 * Source: docs/decisions/0047-decisions-as-examples.md.
 */
export function openLearner(context: Context, kit: Pick<Kit<unknown, unknown>, 'database'>): WakefulLoop {
  const { learning, log } = context;

  async function run(signal: AbortSignal): Promise<WorkFound> {
    const claimed = await learning.examples.claim();
    if (claimed) return (await readDecision(context, claimed, signal)) ? 'more' : 'nothing';
    return (await learnModel(context, signal)) ? 'more' : 'nothing';
  }

  const loop = startWakefulLoop({
    pollMs,
    run,
    after: kit.database.opened,
    onError(error, failures) {
      if (failures === 0) log.warn({ err: error }, 'nothing can be learned at the moment');
      return Math.min(maxPauseMs, 100 * 2 ** failures);
    },
  });
  learning.wake = loop.wake;
  return loop;
}
