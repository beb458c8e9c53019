import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { services } from '@ticketing/system/services.ts';
import { developmentKeys } from '@ticketing/testkit/development-keys.ts';
import { signToken } from '@ticketing/testkit/sign-token.ts';
import { currentBuild } from '../dev/build.ts';
import { type ConstantLoad, startConstantLoad } from '../rolling/constant-load.ts';
import { buildRevision, findPreviousVersion } from '../rolling/previous-version.ts';
import { type ReplicatedSystem, startReplicatedSystem } from '../rolling/replicated-system.ts';
import { type Restart, roll } from '../rolling/roll.ts';
import { firstShare, requestCounts, shareProblem } from '../rolling/shares.ts';
import { declareCommand, print, readNumber, UsageError } from './command.ts';

const usage = `Restarts every process of a system with two processes of each service, one after the other, while requests
flow through the gateway:

  npm run rolling

  --rate NUMBER    requests per second (15)
  --services LIST  restarts only the processes of these services, such as tickets,gateway
  --upgrade        begins with the previous version of all services, and restarts each process as today's

Prints the restarts, the failed requests, and the share of the requests that one of two processes of tickets got: 10 s after
both had started, and a minute after the last restart. The exit code is 1 if a request has failed, or if such a share is not
between 40 and 60 %.
`;

const options = {
  rate: { type: 'string', default: '15' },
  services: { type: 'string' },
  upgrade: { type: 'boolean', default: false },
} as const;
/** How long shares are counted, and how long after a start. */
const shareMs = 10_000;
/** How long connections of the gateway to services live. */
const connectionAgeMs = 60_000;
const caller = { sub: '7', kind: 'serviceWorker', roleId: 1 };

export const command = declareCommand({ usage, options }, async (values) => {
  const names = services.map(({ name }) => name);
  const rolled = values.services?.split(',') ?? names;
  const unknown = rolled.find((name) => !names.includes(name));
  if (unknown !== undefined) throw new UsageError(`There is no service "${unknown}".`);
  const rate = readNumber('rate', values.rate, { to: 9_999 });
  const dataDir = mkdtempSync(join(tmpdir(), 'ticketing-rolling-'));
  const bundles = await currentBuild();
  const first = values.upgrade ? await previousBundles() : bundles;
  const system = await startReplicatedSystem({ dataDir, bundles: first, count: () => 2 });
  let hasPassed = false;
  try {
    hasPassed = await rollUnderLoad(system, bundles, { rolled, rate });
  } finally {
    await system.stop();
    if (hasPassed) rmSync(dataDir, { recursive: true, force: true });
    else print(`The log of the system is ${join(dataDir, 'system.log')}.`);
  }
  process.exit(hasPassed ? 0 : 1);
});

async function previousBundles(): Promise<string> {
  const previous = findPreviousVersion();
  if ('missing' in previous) throw new UsageError(`There is no upgrade: ${previous.missing}.`);
  print(`from the version ${previous.revision.slice(0, 12)}`);
  return buildRevision(previous.revision);
}

async function rollUnderLoad(
  system: ReplicatedSystem,
  bundles: string,
  { rolled, rate }: { rolled: readonly string[]; rate: number },
): Promise<boolean> {
  const token = await signToken(developmentKeys(system.dataDir).issuerKeyFile, caller, 86_400);
  const load = startConstantLoad({ url: system.url, token, rate });
  await sleep(shareMs);
  const unequal = await printShares(system, '10 s after both had started');
  await system.setUp(bundles);
  const restarts = await roll(system, bundles, ({ service }) => rolled.includes(service));
  printRestarts(restarts);
  if (rolled.includes('tickets')) {
    await sleep(connectionAgeMs);
    unequal.push(...(await printShares(system, 'a minute after the last restart')));
  }
  await load.stop();
  printLoad(load);
  for (const problem of unequal) print(`unequal: ${problem}`);
  return load.failures.length === 0 && unequal.length === 0;
}

/** Prints the shares of the processes of tickets. Returns what is wrong with them. */
async function printShares(system: ReplicatedSystem, when: string): Promise<string[]> {
  const problems: string[] = [];
  const before = await requestCounts(system, 'tickets');
  await sleep(shareMs);
  const after = await requestCounts(system, 'tickets');
  for (const api of ['rest', 'rpc'] as const) {
    const share = firstShare(before[api], after[api]);
    const counted = after[api].reduce((sum, one) => sum + one, 0) - before[api].reduce((sum, one) => sum + one, 0);
    const what = `share of the first of two processes of tickets, ${when}, ${api}`;
    print(`${what}: ${share === undefined ? 'no requests' : `${Math.round(share * 100)} % of ${counted}`}`);
    const problem = shareProblem(share);
    if (problem !== undefined) problems.push(`${what}: ${problem}`);
  }
  return problems;
}

function printRestarts(restarts: readonly Restart[]): void {
  for (const { name, stopMs, startMs } of restarts) {
    print(
      `${name.padEnd(12)} stopped in ${(stopMs / 1000).toFixed(1)} s, ready again after ${(startMs / 1000).toFixed(1)} s`,
    );
  }
}

function printLoad({ sent, failures }: ConstantLoad): void {
  print(`${sent} requests, ${failures.length} failed`);
  for (const failure of failures.slice(0, 20)) print(`  ${failure}`);
}
