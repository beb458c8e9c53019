import { existsSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { services } from '@ticketing/system/services.ts';
import { developmentKeys } from '@ticketing/testkit/development-keys.ts';
import { freePort } from '@ticketing/testkit/free-port.ts';
import { signToken } from '@ticketing/testkit/sign-token.ts';
import { type BackendSide, startBackendSide } from '../faults/backend-side.ts';
import { disturb, type FaultCount } from '../faults/disturb.ts';
import { executionFindings, judgeExecutions } from '../faults/execution-verdict.ts';
import { Ledger } from '../faults/ledger.ts';
import { type Load, startLoad } from '../faults/load.ts';
import { type MailSide, mailVariables, startMailSide } from '../faults/mail-side.ts';
import { judgeMessages, messageFindings } from '../faults/message-verdict.ts';
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
import { declareCommand, readNumber, UsageError } from './command.ts';

const print = (text: string) => void process.stdout.write(text);
const printLine = (line: string) => print(`${line}\n`);
const progressMs = 3_000;
const maxPrinted = 10;
const maxLogLines = 12;
/** How long the load goes on after the last fault, in ms. */
const loadAfterFaultsMs = 2_000;
/** The options of `npm run faults`. */
interface FaultOptions {
  kills: number;
  /** The service whose processes are killed `kills` times; undefined if all kills count. */
  focus: string | undefined;
  /** The average pause between two faults. */
  secondsBetween: number;
  seed: number;
  /** The command that kills, stops, freezes and restores the broker and the database. */
  servers: string | undefined;
  /** The data folder; undefined for a temporary one. */
  dataDir: string | undefined;
  /** Whether two processes run of each service and of the gateway. */
  hasReplicas: boolean;
}

/** An admin, who has every right; a machine, so that the rate limit for people does not apply. */
const caller = { sub: '7', kind: 'serviceWorker', roleId: 1 };

const usage = `Kills processes of a system under load, and checks that nothing that was acknowledged is lost:

  npm run faults -- --kills 100

  --kills NUMBER            how many processes are killed (100); others are frozen for 1 to 8 seconds
  --focus SERVICE           half of the faults hit this service, and only its kills count; for example settings
  --seconds-between NUMBER  the average pause between two faults (1)
  --seed NUMBER             chooses the faults; the same seed chooses the same ones (default: random)
  --replicas                runs two processes of each service and of the gateway, with all their roles, behind balancers
                            of connections; all are killed and frozen
  --data DIR                a new folder for the system (default: a temporary one, removed if nothing is wrong)
  --servers COMMAND         also kills, stops and freezes the servers that MONGODB_URI and KAFKA_BROKERS name, by
                            COMMAND kill|start|stop|freeze|thaw broker|database

Receivers of webhooks, readers of the feed and a mail server run beside the system. They are killed and frozen too, and
some receivers fail, hang and vanish for a while.

Needs Linux. The exit code is 1 if a change or a message is lost, events are out of order, a bulk is applied in part, rows or
counts differ, a mail has not left or left with several ids, something is left that no ticket has, or a receiver or reader
has not got exactly the changes that it must get.
`;

const options = {
  kills: { type: 'string', default: '100' },
  focus: { type: 'string' },
  'seconds-between': { type: 'string', default: '1' },
  seed: { type: 'string' },
  replicas: { type: 'boolean', default: false },
  data: { type: 'string' },
  servers: { type: 'string' },
} as const;

export const command = declareCommand({ usage, options }, async (values) => {
  const dataDir = values.data === undefined ? undefined : resolve(values.data);
  if (dataDir !== undefined && existsSync(join(dataDir, 'mongodb'))) {
    throw new UsageError(`${dataDir} holds the data of a system already; name a new folder.`);
  }
  const { focus, seed, servers, replicas: hasReplicas } = values;
  if (focus !== undefined && !services.some(({ name }) => name === focus)) {
    throw new UsageError(`--focus takes the name of a service, not "${focus}".`);
  }
  await run({
    kills: readNumber('kills', values.kills, { from: 0, to: 999_999 }),
    focus,
    secondsBetween: readSeconds(values['seconds-between']),
    seed: seed === undefined ? Math.floor(Math.random() * 1e9) : readNumber('seed', seed, { from: 0, to: 999_999_999 }),
    servers,
    dataDir,
    hasReplicas,
  });
});

function readSeconds(text: string): number {
  if (/^\d{1,4}(\.\d+)?$/.test(text)) return Number(text);
  throw new UsageError(`--seconds-between takes a number, not "${text}".`);
}

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
