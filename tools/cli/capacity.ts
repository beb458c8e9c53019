import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { services } from '@ticketing/system/services.ts';
import { developmentKeys } from '@ticketing/testkit/development-keys.ts';
import { signToken } from '@ticketing/testkit/sign-token.ts';
import {
  type CpuTimes,
  deviation,
  type MeasuredPoint,
  neededCapacity,
  type PlannedLoad,
} from '../../bench/capacity.ts';
import { readCpuSeconds } from '../../bench/process-figures.ts';
import { currentBuild } from '../dev/build.ts';
import { startConstantLoad } from '../rolling/constant-load.ts';
import { type ReplicatedSystem, startReplicatedSystem } from '../rolling/replicated-system.ts';
import { declareCommand, print, readNumber } from './command.ts';

const usage = `Measures what a request costs with one and with two processes of each service, and derives how many processes
installations need (docs/operations/scaling.md, Capacity):

  npm run capacity

  --rate NUMBER     requests per second (20)
  --seconds NUMBER  how long each of the two loads lasts, and each of the two pauses before them (20)

The exit code is 1 if a request has failed, or if the costs of the two points differ by more than 25 %.
`;

const options = { rate: { type: 'string', default: '20' }, seconds: { type: 'string', default: '20' } } as const;
const caller = { sub: '7', kind: 'serviceWorker', roleId: 1 };
const warmUpMs = 10_000;
const maxDeviation = 0.25;
const planned: readonly PlannedLoad[] = [
  { agents: 50, ticketsPerDay: 2_000, changesPerTicket: 8 },
  { agents: 500, ticketsPerDay: 20_000, changesPerTicket: 8 },
  { agents: 2_000, ticketsPerDay: 100_000, changesPerTicket: 8 },
];

export const command = declareCommand({ usage, options }, async (values) => {
  const read = (name: 'rate' | 'seconds') => readNumber(name, values[name], { to: 9_999 });
  const plan = { rate: read('rate'), seconds: read('seconds') };
  const [one, two] = [await measure(1, plan), await measure(2, plan)];
  const differs = deviation(one, two);
  print(`with two processes a request costs ${(100 + differs * 100).toFixed(0)} % of what it costs with one`);
  for (const load of planned) printPlan(load, one);
  process.exit(Math.abs(differs) > maxDeviation ? 1 : 0);
});

/** Measures the CPU time of `count` idle processes of each service, and of a request. Errors: those of the requests. */
async function measure(count: number, { rate, seconds }: { rate: number; seconds: number }): Promise<MeasuredPoint> {
  const dataDir = mkdtempSync(join(tmpdir(), 'ticketing-capacity-'));
  const system = await startReplicatedSystem({ dataDir, bundles: await currentBuild(), count: () => count });
  try {
    const token = await signToken(developmentKeys(dataDir).issuerKeyFile, caller, 86_400);
    await sleep(warmUpMs);
    const unused = await cpuMsOfPeriod(system, seconds);
    const load = startConstantLoad({ url: system.url, token, rate });
    await sleep(warmUpMs);
    const sentBefore = load.sent;
    const used = await cpuMsOfPeriod(system, seconds);
    const sent = load.sent - sentBefore;
    await load.stop();
    if (load.failures.length > 0) throw new Error(`${load.failures.length} requests have failed: ${load.failures[0]}`);
    const point = {
      // A service that the load does not reach differs by measurement noise only.
      request: cpuTimes((name) => Math.max(0, (used[name] ?? 0) - (unused[name] ?? 0)) / sent),
      idle: cpuTimes((name) => (unused[name] ?? 0) / seconds / count),
    };
    print(`${count} of each, ms of CPU time per second of a process without requests: ${shown(point.idle)}`);
    print(`${count} of each, ms of CPU time per request beyond these: ${shown(point.request)}`);
    return point;
  } finally {
    await system.stop();
    rmSync(dataDir, { recursive: true, force: true });
  }
}

/** The CPU time that the processes of each service, and the store, use in the next seconds. Units: ms. */
async function cpuMsOfPeriod(system: ReplicatedSystem, seconds: number): Promise<Record<string, number>> {
  const before = cpuSeconds(system);
  await sleep(seconds * 1000);
  const after = cpuSeconds(system);
  return Object.fromEntries(
    Object.keys(after).map((name) => [name, ((after[name] ?? 0) - (before[name] ?? 0)) * 1000]),
  );
}

/** The CPU time of the processes of each service, and of the store, since they were started. */
function cpuSeconds({ replicas, store }: ReplicatedSystem): Record<string, number> {
  if (store.pid === undefined) throw new Error('The store is not a process of this system.');
  const sums: Record<string, number> = { store: readCpuSeconds(store.pid) };
  for (const { service, pid } of replicas) sums[service] = (sums[service] ?? 0) + readCpuSeconds(pid());
  return sums;
}

function cpuTimes(msOf: (name: string) => number): CpuTimes {
  return { services: Object.fromEntries(services.map(({ name }) => [name, msOf(name)])), store: msOf('store') };
}

function shown(times: CpuTimes): string {
  const all = [...Object.entries(times.services), ['store', times.store] as const];
  return all.map(([name, ms]) => `${name} ${ms.toFixed(1)}`).join(', ');
}

function printPlan(load: PlannedLoad, point: MeasuredPoint): void {
  const { requestsPerSecond, processes, serviceCores, storeCores } = neededCapacity(load, point);
  const { agents, ticketsPerDay, changesPerTicket } = load;
  const counts = Object.entries(processes).map(([name, count]) => `${name} ${count}`);
  print(
    `${agents} agents, ${ticketsPerDay} tickets a day with ${changesPerTicket} changes each: ${requestsPerSecond.toFixed(0)} requests/s, ${serviceCores.toFixed(1)} cores of services (${counts.join(', ')}), ${storeCores.toFixed(1)} cores of the store`,
  );
}
