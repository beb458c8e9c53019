import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { developmentKeys } from '@ticketing/testkit/development-keys.ts';
import { freePort } from '@ticketing/testkit/free-port.ts';
import { signToken } from '@ticketing/testkit/sign-token.ts';
import { runDevelopmentScript } from '../dev/run-script.ts';
import { type BackendSide, startBackendSide } from '../faults/backend-side.ts';
import { disturb, type FaultCount } from '../faults/disturb.ts';
import { executionFindings, judgeExecutions } from '../faults/execution-verdict.ts';
import { Ledger } from '../faults/ledger.ts';
import { type Load, startLoad } from '../faults/load.ts';
import { type MailSide, mailVariables, startMailSide } from '../faults/mail-side.ts';
import { judgeMessages, messageFindings } from '../faults/message-verdict.ts';
import { type FaultOptions, readFaultOptions } from '../faults/options.ts';
import { seededRandom } from '../faults/random.ts';
import { observe } from '../faults/read-back.ts';
import { measureRecoveries, type Recoveries } from '../faults/recovery.ts';
import {
  executionTable,
  lines,
  messageTable,
  recoveryTable,
  statusLine,
  subscriberTable,
  table,
} from '../faults/report.ts';
import { openServers } from '../faults/servers.ts';
import { judgeStored, readMessageDocuments, type StoredMessages } from '../faults/stored-messages.ts';
import { subscriberFindings } from '../faults/subscriber.ts';
import { type Subscribers, startSubscribers } from '../faults/subscribers.ts';
import { type System, startSystem } from '../faults/system.ts';
import { findings, judge } from '../faults/verdict.ts';
import { openTickets, waitUntilIdle } from '../faults/wait-until-idle.ts';

const print = (text: string) => void process.stdout.write(text);
const printLine = (line: string) => print(`${line}\n`);
const progressMs = 3_000;
const maxPrinted = 10;
const maxLogLines = 12;
/** How long the load goes on after the last fault, in ms. */
const loadAfterFaultsMs = 2_000;
/** An admin, who has every right; a machine, so that the rate limit for people does not apply. */
const caller = { sub: '7', kind: 'serviceWorker', roleId: 1 };

await runDevelopmentScript(async () => {
  const options = readFaultOptions(process.argv.slice(2), Math.floor(Math.random() * 1e9));
  if (typeof options === 'string') print(options);
  else await run(options);
});

/** Runs the system, the load and the faults on a data folder. A temporary folder is removed if nothing is wrong. */
async function run(options: FaultOptions): Promise<void> {
  const dataDir = options.dataDir ?? mkdtempSync(join(tmpdir(), 'ticketing-faults-'));
  mkdirSync(dataDir, { recursive: true });
  print(`seed ${options.seed}, data ${dataDir}\n`);
  const mailPort = await freePort();
  const system = await startSystem(dataDir, { hasReplicas: options.hasReplicas, variables: mailVariables(mailPort) });
  process.once('exit', () => system.kill());
  const interrupted = interruption();
  let hasPassed = false;
  try {
    hasPassed = await Promise.race([
      injectAndJudge(options, { dataDir, mailPort }, system, interrupted.signal),
      system.failed,
      interrupted.happened,
    ]);
  } finally {
    await system.stop();
    if (hasPassed && options.dataDir === undefined) rmSync(dataDir, { recursive: true, force: true });
    else print(`The data and the log of the system are in ${dataDir}.\n`);
  }
  if (!hasPassed) process.exitCode = 1;
  process.exit();
}

/** Aborts the run on the first signal; a second signal ends the process at once. */
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

/**
 * Injects faults under load, then compares what was acknowledged with what can be read. Returns whether nothing is
 * wrong.
 */
async function injectAndJudge(
  options: FaultOptions,
  { dataDir, mailPort }: { dataDir: string; mailPort: number },
  system: System,
  signal: AbortSignal,
): Promise<boolean> {
  const token = await signToken(developmentKeys(dataDir).issuerKeyFile, caller, 86_400);
  const random = seededRandom(options.seed);
  const subscribers = await startSubscribers({ system, token, dataDir, random, signal });
  const mailSide = await startMailSide({ system, token, dataDir, port: mailPort, signal });
  const backendSide = await startBackendSide({ system, token, dataDir, signal });
  try {
    return await judgeAfterFaults({ options, system, token, subscribers, mailSide, backendSide, signal });
  } finally {
    await Promise.all([subscribers.stop(), mailSide.stop(), backendSide.stop()]);
  }
}

interface Run {
  options: FaultOptions;
  system: System;
  token: string;
  subscribers: Subscribers;
  mailSide: MailSide;
  backendSide: BackendSide;
  signal: AbortSignal;
}

async function judgeAfterFaults({
  options,
  system,
  token,
  subscribers,
  mailSide,
  backendSide,
  signal,
}: Run): Promise<boolean> {
  const { url } = system;
  const { seed } = options;
  const { subchannelId } = subscribers;
  const ledger = new Ledger();
  const recoveries = measureRecoveries();
  const count: FaultCount = { kills: 0, killsOf: new Map(), freezes: 0, last: 'none' };
  const load = startLoad({
    ...{ url, token, seed, ledger, subchannelId, mailbox: mailSide.mailbox, mailUrl: mailSide.receiverUrl },
    intentCode: backendSide.code,
    onAcknowledged: recoveries.acknowledged,
  });
  await disturbUnderLoad(options, system, { load, ledger, recoveries, count, signal });
  await subscribers.behave();
  await waitUntilIdle(system.environment(), printLine);
  await subscribers.deliverRest(printLine);
  const observed = await observe(url, token, system.environment());
  const verdict = judge(ledger, observed);
  const received = await subscribers.judge(observed.messages);
  const stored = await readStored(system);
  const messages = judgeMessages(ledger, { ...observed, ...stored, events: observed.messages, left: mailSide.left() });
  const executions = judgeExecutions(ledger, { ...observed, calls: backendSide.calls() });
  print(
    `\n${recoveryTable(recoveries)}\nresponses by status  ${statusLine(load.statusCounts)}\n${lines(load.unexpected)}`,
  );
  print(lines(mostFrequentLogLines(system)));
  print(
    `\n${table(count, ledger, verdict)}\n${messageTable(messages, stored)}\n${executionTable(executions)}\n${subscriberTable(received)}`,
  );
  const wrong = [
    ...[
      ...findings(verdict),
      ...messageFindings(messages),
      ...executionFindings(executions),
      ...stored.leftOver,
      ...stored.missingFiles,
    ],
    ...[...received.subscribers.flatMap(subscriberFindings), ...received.wrong],
  ];
  if (wrong.length > 0) print(`\n${lines(wrong.slice(0, maxPrinted))}`);
  return wrong.length === 0;
}

async function readStored(system: System): Promise<StoredMessages> {
  const database = openTickets(system.environment());
  try {
    await database.opened;
    return judgeStored(await readMessageDocuments(database.connection));
  } finally {
    await database.close();
  }
}

interface RunState {
  load: Load;
  ledger: Ledger;
  recoveries: Recoveries;
  count: FaultCount;
  signal: AbortSignal;
}

async function disturbUnderLoad(options: FaultOptions, system: System, state: RunState): Promise<void> {
  const { load, ledger, count } = state;
  const progress = setInterval(() => {
    const { kills, freezes, last } = count;
    print(`${kills} kills, ${freezes} freezes, ${ledger.acknowledged} changes acknowledged; last fault: ${last}\n`);
  }, progressMs);
  try {
    await disturb({
      ...options,
      ...state,
      system,
      servers: options.servers === undefined ? undefined : openServers(options.servers),
      random: seededRandom(options.seed),
      acknowledged: () => ledger.acknowledged,
    });
    await system.ready();
    await sleep(loadAfterFaultsMs);
  } finally {
    clearInterval(progress);
    await load.stop();
  }
}

/** The sentences that the services logged most often, each with its count. */
function mostFrequentLogLines(system: System): string[] {
  const counts = system.log.counts();
  const shown = counts.slice(0, maxLogLines).map(({ sentence, count }) => `${String(count).padStart(6)} × ${sentence}`);
  return counts.length > shown.length
    ? [...shown, `        and ${counts.length - shown.length} other sentences`]
    : shown;
}
