import { setTimeout } from 'node:timers/promises';
import { type AttackTarget, attacks } from './attack-list.ts';

/** A request to the process of the attacker: to prepare an attack, to repeat it for a time, or to repeat its processor load. */
export interface AttackOrder {
  name: string;
  target: AttackTarget;
  /** If undefined, the attack is only prepared. */
  forMs: number | undefined;
  /**
   * Whether to use as much processor time as the last attack did, at the same pace, but send nothing: the control that
   * shows what the attacker takes from a machine that it shares.
   */
  isControl?: boolean;
}

/** How long a round of an attack took, and how much processor time of this process. */
interface Round {
  ms: number;
  cpuMs: number;
}

/** The pause leaves processor time, so that the p99 shows how long one round delays others. */
const pauseMs = 200;
let lastRounds: Round[] = [];

// A separate process, because the bodies of attacks would otherwise delay the process that measures.
process.on('message', async (order: AttackOrder) => {
  process.send?.(await carryOut(order));
});

/** Returns what the attacker saw the first time. */
async function carryOut({ name, target, forMs, isControl = false }: AttackOrder): Promise<string> {
  const attack = attacks.find((one) => one.name === name);
  if (!attack) throw new Error(`There is no attack "${name}".`);
  if (forMs === undefined) {
    await attack.prepare?.(target);
    return '';
  }
  return isControl ? repeatLoad(lastRounds) : repeat(() => attack.run(target), forMs);
}

async function repeat(run: () => Promise<string>, forMs: number): Promise<string> {
  const endsAt = performance.now() + forMs;
  let first: string | undefined;
  lastRounds = [];
  while (performance.now() < endsAt) {
    const startedAt = performance.now();
    const cpu = process.cpuUsage();
    const seen = await run();
    first ??= seen;
    await setTimeout(pauseMs);
    const { user, system } = process.cpuUsage(cpu);
    lastRounds.push({ ms: performance.now() - startedAt, cpuMs: (user + system) / 1000 });
  }
  return first ?? '';
}

/** Uses the processor at the start of each round, as attacks do. */
async function repeatLoad(rounds: readonly Round[]): Promise<string> {
  for (const { ms, cpuMs } of rounds) {
    const startedAt = performance.now();
    while (performance.now() - startedAt < cpuMs);
    await setTimeout(Math.max(0, ms - cpuMs));
  }
  return '';
}
