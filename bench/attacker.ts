import { setTimeout } from 'node:timers/promises';
import { type AttackTarget, attacks } from './attack-list.ts';

/** A request to the process of the attacker: to prepare an attack, or to repeat it for a time. */
export interface AttackOrder {
  name: string;
  target: AttackTarget;
  /** Undefined only prepares it. */
  forMs: number | undefined;
}

/** Between two rounds: what is measured is how much a round holds up others, not how much of the processor is left. */
const pauseMs = 200;

// A process of its own: the bodies of attacks would otherwise hold up the process that measures.
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
