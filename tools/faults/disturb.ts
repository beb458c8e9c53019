import { setTimeout as sleep } from 'node:timers/promises';
import type { SystemProcess } from './processes.ts';
import type { Random } from './random.ts';
import type { Recoveries } from './recovery.ts';
import { type ServerName, type Servers, serverNames } from './servers.ts';
import type { System } from './system.ts';

/** How many faults have happened, and a description of the last one. */
export interface FaultCount {
  kills: number;
  /** The kills by what was killed; a second process of a service counts as the first. */
  killsOf: Map<string, number>;
  freezes: number;
  last: string;
}

interface DisturbOptions {
  system: Pick<System, 'processes' | 'signal'> & { log: Pick<System['log'], 'note'> };
  servers: Servers | undefined;
  random: Random;
  kills: number;
  /** If given, half of the faults hit this service, and only its kills are counted towards `kills`. */
  focus?: string | undefined;
  /** The average pause between two faults. */
  secondsBetween: number;
  count: FaultCount;
  recoveries: Pick<Recoveries, 'begin'>;
  /** How many changes have been acknowledged so far. */
  acknowledged(): number;
  signal: AbortSignal;
  /** For how long a process is frozen. By default 1 to 8 s: a lease expires 6 to 9 s after its owner was frozen. */
  freezeMs?: { shortest: number; longest: number };
}

/** The probability that a kill hits the starter, and with it the whole system. */
const starterProbability = 0.1;
/** The probability that a fault hits a client of the system, if there is one. */
const clientProbability = 0.25;
/** The probability that a fault hits the service that is in the focus. */
const focusProbability = 0.5;
/** The probability that a fault is a freeze instead of a kill. */
const freezeProbability = 0.15;
/** The probability that a fault does not wait until changes are acknowledged again, so that it hits starting processes. */
const noWaitProbability = 0.25;
/** How many changes must be acknowledged before the next fault, and how long it waits for them at most. */
const changesBetween = 20;
const changesTimeoutMs = 60_000;
const pollMs = 50;

/**
 * Kills as many processes as are asked for, at random moments, and also freezes some (SIGSTOP, later SIGCONT). At the end
 * all processes are thawed and all servers are restored.
 */
export async function disturb(options: DisturbOptions): Promise<void> {
  const { system, servers, random, count, signal } = options;
  const frozen = new Map<number, Promise<void>>();
  const done = () => (options.focus === undefined ? count.kills : (count.killsOf.get(options.focus) ?? 0));
  while (done() < options.kills && !signal.aborted) {
    if (random.next() >= noWaitProbability) await untilChangesAcknowledged(options);
    await sleep(random.next() * 2000 * options.secondsBetween);
    if (random.next() < freezeProbability) freeze(options, frozen);
    else kill(options);
  }
  await Promise.all(frozen.values());
  await servers?.restored();
  for (const found of system.processes()) system.signal(found, 'SIGCONT');
}

async function untilChangesAcknowledged({ acknowledged, signal }: DisturbOptions): Promise<void> {
  const before = acknowledged();
  const deadline = Date.now() + changesTimeoutMs;
  while (acknowledged() < before + changesBetween && Date.now() < deadline && !signal.aborted) await sleep(pollMs);
}

function kill(options: DisturbOptions): void {
  const { system, random, count, recoveries, servers } = options;
  const isStarter = random.next() < starterProbability;
  const target = choose(options, isStarter);
  if (target === undefined) return;
  if (typeof target === 'string') {
    const how = random.pick(['kill', 'stop'] as const) ?? 'kill';
    servers?.restart(target, how, 500 + random.below(5_000));
  } else if (!system.signal(target, 'SIGKILL')) return;
  const name = typeof target === 'string' ? target : target.role;
  count.kills += 1;
  const service = findService(name);
  count.killsOf.set(service, (count.killsOf.get(service) ?? 0) + 1);
  if (typeof target === 'string' || !target.isClient) recoveries.begin(`kill of ${name}`);
  noteFault(options, `${name} killed`);
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
  if (typeof target === 'string' || !target.isClient) recoveries.begin(`freeze of ${name}`);
  noteFault(options, `${name} frozen for ${(ms / 1000).toFixed(1)} s`);
}

/**
 * Chooses the starter, or, by their probabilities, a client, a process of the focus, or one of the other processes and
 * undisturbed servers that were killed least often.
 */
function choose(
  { system, random, servers, focus, count }: DisturbOptions,
  isStarter: boolean,
): SystemProcess | ServerName | undefined {
  const running = system.processes().sort((left, right) => left.role.localeCompare(right.role));
  const starter = running.find(({ role }) => role === 'starter');
  if (isStarter) return starter;
  const chance = random.next();
  const focused = running.filter(({ role }) => findService(role) === focus);
  if (focused.length > 0 && chance < focusProbability) return random.pick(focused);
  const clients = running.filter(({ isClient }) => isClient);
  if (clients.length > 0 && chance > 1 - clientProbability) return random.pick(clients);
  const undisturbed = servers ? serverNames.filter((name) => !servers.isDisturbed(name)) : [];
  const others = running.filter(({ role, isClient }) => !isClient && !['starter', 'other'].includes(role));
  return random.pick(leastKilled([...others, ...undisturbed], count));
}

/** The targets whose service was killed least often, so that a short run hits each service. */
function leastKilled(targets: readonly (SystemProcess | ServerName)[], { killsOf }: FaultCount) {
  const killsOfTarget = (target: SystemProcess | ServerName) =>
    killsOf.get(typeof target === 'string' ? target : findService(target.role)) ?? 0;
  const least = Math.min(...targets.map(killsOfTarget));
  return targets.filter((target) => killsOfTarget(target) === least);
}

/** Finds the service of a role. The second process of a service has the role of the first. */
function findService(role: string): string {
  return role.replace(/^second /, '');
}

function noteFault({ count, system }: DisturbOptions, what: string): void {
  count.last = what;
  system.log.note(what);
}
