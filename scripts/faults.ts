import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { developmentKeys } from '@ticketing/testkit/development-keys.ts';
import { signToken } from '@ticketing/testkit/sign-token.ts';
import { disturb, type FaultCount } from '../test/faults/disturb.ts';
import { Ledger } from '../test/faults/ledger.ts';
import { type Load, startLoad } from '../test/faults/load.ts';
import { type FaultOptions, readFaultOptions } from '../test/faults/options.ts';
import { seededRandom } from '../test/faults/random.ts';
import { observe } from '../test/faults/read-back.ts';
import { measureRecoveries, type Recoveries } from '../test/faults/recovery.ts';
import { answerLine, lines, recoveryTable, table } from '../test/faults/report.ts';
import { openServers } from '../test/faults/servers.ts';
import { settle } from '../test/faults/settle.ts';
import { type System, startSystem } from '../test/faults/system.ts';
import { findings, judge } from '../test/faults/verdict.ts';
import { runDevelopmentScript } from '../tools/dev/run-script.ts';

const print = (text: string) => void process.stdout.write(text);
const progressMs = 3_000;
const mostPrinted = 10;
const mostLogged = 12;
/** How long changes go on after the last fault, in ms. */
const calmMs = 2_000;
/** Every right, and no rate limit that people have. */
const caller = { sub: '7', kind: 'serviceWorker', roleId: 1 };

await runDevelopmentScript(async () => {
  const options = readFaultOptions(process.argv.slice(2), Math.floor(Math.random() * 1e9));
  if (typeof options === 'string') print(options);
  else await run(options);
});

/** Runs everything on a data folder, which is removed if it is a temporary one and nothing is wrong. */
async function run(options: FaultOptions): Promise<void> {
  const dataDir = options.dataDir ?? mkdtempSync(join(tmpdir(), 'ticketing-faults-'));
  mkdirSync(dataDir, { recursive: true });
  print(`seed ${options.seed}, data ${dataDir}\n`);
  const system = await startSystem(dataDir, options.hasReplicas);
  process.once('exit', () => system.kill());
  const interrupted = interruption();
  let isWell = false;
  try {
    isWell = await Promise.race([
      prove(options, dataDir, system, interrupted.signal),
      system.failed,
      interrupted.happened,
    ]);
  } finally {
    await system.stop();
    if (isWell && options.dataDir === undefined) rmSync(dataDir, { recursive: true, force: true });
    else print(`The data and the log of the system are in ${dataDir}.\n`);
  }
  if (!isWell) process.exitCode = 1;
  process.exit();
}

/** Aborts on the first signal; the second ends at once. */
function interruption(): { signal: AbortSignal; happened: Promise<never> } {
  const controller = new AbortController();
  const { promise, reject } = Promise.withResolvers<never>();
  promise.catch(() => undefined);
  for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
    process.on(name, () => {
      if (controller.signal.aborted) process.exit(1);
      controller.abort();
      reject(new Error('interrupted'));
    });
  }
  return { signal: controller.signal, happened: promise };
}

/** Answers whether nothing was lost. */
async function prove(options: FaultOptions, dataDir: string, system: System, signal: AbortSignal): Promise<boolean> {
  const token = await signToken(developmentKeys(dataDir).issuerKeyFile, caller, 86_400);
  const ledger = new Ledger();
  const recoveries = measureRecoveries();
  const count: FaultCount = { kills: 0, freezes: 0, last: 'nothing yet' };
  const { url } = system;
  const load = startLoad({ url, token, seed: options.seed, ledger, onAcknowledged: recoveries.acknowledged });
  await disturbUnderLoad(options, system, { load, ledger, recoveries, count, signal });
  const environment = system.environment();
  await settle(environment, (line) => print(`${line}\n`));
  const verdict = judge(ledger, await observe(url, token, environment));
  print(`\n${recoveryTable(recoveries)}\nanswers  ${answerLine(load.answers)}\n${lines(load.surprises)}`);
  print(lines(logged(system)));
  print(`\n${table(count, ledger.acknowledged, verdict)}`);
  const wrong = findings(verdict);
  if (wrong.length > 0) print(`\n${lines(wrong.slice(0, mostPrinted))}`);
  return wrong.length === 0;
}

interface Underway {
  load: Load;
  ledger: Ledger;
  recoveries: Recoveries;
  count: FaultCount;
  signal: AbortSignal;
}

async function disturbUnderLoad(options: FaultOptions, system: System, underway: Underway): Promise<void> {
  const { load, ledger, count } = underway;
  const progress = setInterval(() => {
    const { kills, freezes, last } = count;
    print(`${kills} kills, ${freezes} freezes, ${ledger.acknowledged} acknowledged; last: ${last}\n`);
  }, progressMs);
  try {
    await disturb({
      ...options,
      ...underway,
      system,
      servers: options.servers === undefined ? undefined : openServers(options.servers),
      random: seededRandom(options.seed),
      acknowledged: () => ledger.acknowledged,
    });
    await system.ready();
    await sleep(calmMs);
  } finally {
    clearInterval(progress);
    await load.stop();
  }
}

/** What the services have logged most, as warnings and errors. */
function logged(system: System): string[] {
  const counts = system.log.counts();
  const shown = counts.slice(0, mostLogged).map(({ sentence, count }) => `${String(count).padStart(6)} × ${sentence}`);
  return counts.length > shown.length ? [...shown, `        and ${counts.length - shown.length} others`] : shown;
}
