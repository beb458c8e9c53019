import { setTimeout as sleep } from 'node:timers/promises';
import type { Endpoint } from './endpoints.ts';
import type { SystemLog } from './log.ts';
import type { Operator } from './operator.ts';
import type { Random } from './random.ts';
import type { Behaviour } from './receiver.ts';

interface MisbehaviourOptions {
  endpoints: readonly Endpoint[];
  operator: Pick<Operator, 'redeliverSome'>;
  random: Random;
  log: Pick<SystemLog, 'note'>;
}

const misbehaviours: readonly Behaviour[] = ['fail', 'failHalf', 'hang', 'vanish'];
/** How long a receiver behaves, and then misbehaves, at most. */
const behavesMs = 8_000;
const misbehavesMs = 5_000;

/**
 * Makes receivers fail, hang and vanish, for some seconds each time. After each misbehaviour the operator redelivers
 * failed deliveries, because the breaker would wait for five minutes. The returned function ends this; afterwards all
 * receivers behave.
 */
export function startMisbehaviour({ endpoints, operator, random, log }: MisbehaviourOptions): () => Promise<void> {
  const stopping = new AbortController();
  const { signal } = stopping;
  const pause = (ms: number) => sleep(random.next() * ms, undefined, { signal }).catch(() => undefined);

  async function run(endpoint: Endpoint): Promise<void> {
    while (!signal.aborted) {
      await pause(behavesMs);
      if (signal.aborted) return;
      const behaviour = random.pick(misbehaviours) ?? 'fail';
      log.note(`the receiver of ${endpoint.name}: ${behaviour}`);
      endpoint.receiver.send(behaviour);
      await pause(misbehavesMs);
      endpoint.receiver.send('accept');
      log.note(`the receiver of ${endpoint.name}: accept`);
      if (!signal.aborted) await operator.redeliverSome(endpoint);
    }
  }

  const running = Promise.all(endpoints.filter(({ misbehaves }) => misbehaves).map(run));
  running.catch(() => undefined);
  return async () => {
    stopping.abort();
    await running;
  };
}
