import { setTimeout } from 'node:timers/promises';
import { type AttackTarget, attacks } from './attack-list.ts';

/** A request to the process of the attacker: to prepare an attack, or to repeat it for a time. */
export interface AttackOrder {
  name: string;
  target: AttackTarget;
  /** Undefined only prepares it. */
  forMs: number | undefined;
}

/** The pause leaves processor time, so that the p99 shows how long one round delays others. */
const pauseMs = 200;

// A process of its own: the bodies of attacks would otherwise delay the process that measures.
process.on('message', async ({ name, target, forMs }: AttackOrder) => {
  process.send?.(await carryOut(name, target, forMs));
});

/** Returns what the attacker saw the first time. */
async function carryOut(name: string, target: AttackTarget, forMs: number | undefined): Promise<string> {
  const attack = attacks.find((one) => one.name === name);
  if (!attack) throw new Error(`There is no attack "${name}".`);
  if (forMs === undefined) {
    await attack.prepare?.(target);
    return '';
  }
  const endsAt = performance.now() + forMs;
  let first: string | undefined;
  while (performance.now() < endsAt) {
    const seen = await attack.run(target);
    first ??= seen;
    await setTimeout(pauseMs);
  }
  return first ?? '';
}
