import { setTimeout as sleep } from 'node:timers/promises';
import type { SystemProcess } from './processes.ts';
import type { Random } from './random.ts';
import type { Recoveries } from './recovery.ts';
import { type ServerName, type Servers, serverNames } from './servers.ts';
import type { System } from './system.ts';

/** How far the faults have come. */
export interface FaultCount {
  kills: number;
  freezes: number;
  last: string;
}

interface DisturbOptions {
  system: Pick<System, 'processes' | 'signal'> & { log: Pick<System['log'], 'note'> };
  servers: Servers | undefined;
  random: Random;
  kills: number;
  secondsBetween: number;
  count: FaultCount;
  recoveries: Pick<Recoveries, 'begin'>;
  /** How many changes are acknowledged. */
  acknowledged(): number;
  signal: AbortSignal;
  /** For how long something is frozen: the lease of a relay lasts 5 seconds. */
  freezeMs?: { shortest: number; longest: number };
}

/** How often the starter itself is killed, and something is frozen instead. */
const starterShare = 0.1;
const freezeShare = 0.15;
/** How often a fault does not wait until changes are acknowledged again: it hits what is starting. */
const impatientShare = 0.25;
/** Changes between two faults, and for how long they are waited for, in ms. */
const fewestChanges = 20;
const patienceMs = 20_000;
const lookEveryMs = 50;

/** Kills, at random moments, as many processes as are asked for, and freezes some beside. All are thawed at the end. */
export async function disturb(options: DisturbOptions): Promise<void> {
  const { system, servers, random, count, signal } = options;
  const frozen = new Map<number, Promise<void>>();
  while (count.kills < options.kills && !signal.aborted) {
    if (random.next() >= impatientShare) await untilBusy(options);
    await sleep(random.next() * 2000 * options.secondsBetween);
    if (random.next() < freezeShare) freeze(options, frozen);
    else kill(options);
  }
  await Promise.all(frozen.values());
  await servers?.settled();
  for (const found of system.processes()) system.signal(found, 'SIGCONT');
}

async function untilBusy({ acknowledged, signal }: DisturbOptions): Promise<void> {
  const before = acknowledged();
  const deadline = Date.now() + patienceMs;
  while (acknowledged() < before + fewestChanges && Date.now() < deadline && !signal.aborted) await sleep(lookEveryMs);
}

function kill(options: DisturbOptions): void {
  const { system, random, count, recoveries, servers } = options;
  const isStarter = random.next() < starterShare;
  const target = choose(options, isStarter);
  if (target === undefined) return;
  if (typeof target === 'string') {
    const how = random.pick(['kill', 'stop'] as const) ?? 'kill';
    servers?.restart(target, how, 500 + random.below(5_000));
  } else if (!system.signal(target, 'SIGKILL')) return;
  const name = typeof target === 'string' ? target : target.role;
  count.kills += 1;
  recoveries.begin(`kill of ${name}`);
  tell(options, `${name} killed`);
}

function freeze(options: DisturbOptions, frozen: Map<number, Promise<void>>): void {
  const { system, random, count, recoveries, servers, signal } = options;
  const target = choose(options, false);
  const { shortest, longest } = options.freezeMs ?? { shortest: 1_000, longest: 8_000 };
  const ms = shortest + random.below(longest - shortest);
  if (target === undefined) return;
  if (typeof target === 'string') servers?.freeze(target, ms);
  else {
    if (frozen.has(target.pid) || !system.signal(target, 'SIGSTOP')) return;
    const thawed = sleep(ms, undefined, { signal })
      .catch(() => undefined)
      .then(() => {
        system.signal(target, 'SIGCONT');
        frozen.delete(target.pid);
      });
    frozen.set(target.pid, thawed);
  }
  const name = typeof target === 'string' ? target : target.role;
  count.freezes += 1;
  recoveries.begin(`freeze of ${name}`);
  tell(options, `${name} frozen for ${(ms / 1000).toFixed(1)} s`);
}

/** One of what is running: the starter, or any other process or server, each as likely. */
function choose(
  { system, random, servers }: DisturbOptions,
  isStarter: boolean,
): SystemProcess | ServerName | undefined {
  const running = system.processes().sort((left, right) => left.role.localeCompare(right.role));
  const starter = running.find(({ role }) => role === 'starter');
  if (isStarter) return starter;
  const steady = servers ? serverNames.filter((name) => !servers.isDisturbed(name)) : [];
  return random.pick([...running.filter(({ role }) => !['starter', 'other'].includes(role)), ...steady]);
}

function tell({ count, system }: DisturbOptions, what: string): void {
  count.last = what;
  system.log.note(what);
}
