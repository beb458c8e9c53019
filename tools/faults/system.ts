import { type ChildProcess, spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Environment } from '@ticketing/runtime/config-reader.ts';
import { consumedTopics, services, variableName } from '@ticketing/system/services.ts';
import { environmentFile } from '../dev/environment-file.ts';
import { waitUntilReady } from '../dev/wait-until-ready.ts';
import { openLog, type SystemLog } from './log.ts';
import { findProcesses, killAll, markName, type SystemProcess, signalProcess } from './processes.ts';

/** A system, started by `npm start -- --split` or with two processes of each service, that is restarted whenever it ends. */
export interface System {
  url: URL;
  log: SystemLog;
  /** The variables by which its processes are found. */
  marks: Environment;
  /** Rejects if the system failed to start several times in a row. */
  failed: Promise<never>;
  /** Its running processes, and those of its clients. */
  processes(): SystemProcess[];
  /** Signals a process. Returns false if it has ended. */
  signal(found: SystemProcess, signal: NodeJS.Signals): boolean;
  /** Resolves when the whole system is ready. */
  ready(): Promise<void>;
  /** The variables of its services. Errors: throws if the system has never been ready. */
  environment(): Environment;
  /** Stops it in order. */
  stop(): Promise<void>;
  /** Kills all its processes. */
  kill(): void;
}

const program = join(import.meta.dirname, '..', 'cli', 'main.ts');
/** The program that starts one process of each service, and the one that starts two. */
const starters = {
  single: [program, 'start', '--split'],
  replicated: [program, 'faults:start'],
};
/** The run ends after this many failed starts in a row. */
const maxFailures = 8;
/**
 * How long the processes of a system may go on after its starter has died: services complete their requests, and a
 * frozen process goes on after up to 8 s.
 */
const leftoverMs = 60_000;
const stopMs = 60_000;
const pollMs = 100;
/** The starter ends within this time after the store has ended. */
const storeEndNoticedMs = 1_000;

/** Starts the system on a data folder, and restarts it on the same port whenever it ends. */
export async function startSystem(
  dataDir: string,
  { hasReplicas, variables }: { hasReplicas: boolean; variables: Environment },
): Promise<System> {
  const mark = randomUUID();
  const log = openLog(join(dataDir, 'faults.log'));
  const readEnvironment = () => JSON.parse(readFileSync(environmentFile(dataDir), 'utf8')) as Environment;
  const marks = { [markName]: mark };
  const program = hasReplicas ? starters.replicated : starters.single;
  const failure = Promise.withResolvers<never>();
  failure.promise.catch(() => undefined);
  let port = '0';
  let isStopping = false;
  let starter = spawnStarter();
  let isReady = true;

  function spawnStarter(): ChildProcess {
    const child = spawn(process.execPath, [...program, '--port', port, '--data', dataDir], {
      stdio: ['ignore', 'pipe', 'pipe'],
      // Ctrl-C in a terminal must reach only this process, which stops the system in order.
      detached: true,
      env: { ...process.env, ...systemVariables(mark), ...variables, ...marks },
    });
    log.listen(child);
    return child;
  }

  async function keepRunning(): Promise<void> {
    for (let failures = 0; ; ) {
      failures = isReady ? 0 : failures + 1;
      if (failures >= maxFailures) throw new Error(`The system could not be started ${failures} times in a row.`);
      log.note(isReady ? 'the system is ready' : 'the system could not be started');
      await ended(starter);
      log.note('the starter has ended');
      isReady = false;
      await waitForLeftovers();
      if (isStopping) return;
      starter = spawnStarter();
      isReady = (await Promise.race([readyUrl(starter), ended(starter)])) !== undefined;
    }
  }

  /**
   * The processes that the starter has started end by themselves when it is gone; until then they use ports and folder.
   */
  async function waitForLeftovers(): Promise<void> {
    const startedAt = Date.now();
    const seconds = () => `${((Date.now() - startedAt) / 1000).toFixed(1)} s`;
    const ownProcesses = () => findProcesses(mark).filter(({ isClient }) => !isClient);
    let left = ownProcesses();
    while (left.length > 0) {
      if (Date.now() > startedAt + leftoverMs) {
        log.note(`still running ${seconds()} after the starter had ended: ${listRoles(left)}`);
        killAll(mark);
        return;
      }
      await sleep(pollMs);
      const now = ownProcesses();
      if (now.length < left.length) log.note(`running ${seconds()} after the starter had ended: ${listRoles(now)}`);
      left = now;
    }
  }

  const firstUrl = await Promise.race([readyUrl(starter), ended(starter)]);
  if (firstUrl === undefined) {
    killAll(mark);
    throw new Error(`The system could not be started:\n${log.tail()}`);
  }
  port = new URL(firstUrl).port;
  keepRunning().catch(failure.reject);

  return {
    url: new URL(firstUrl),
    log,
    marks,
    failed: failure.promise,
    processes: () => findProcesses(mark),
    signal: (found, signal) => signalProcess(found, mark, signal),
    environment: readEnvironment,
    async ready() {
      for (let seen: ChildProcess | undefined; seen !== starter || !isReady; ) {
        await sleep(storeEndNoticedMs);
        while (!isReady) await sleep(pollMs);
        seen = starter;
        await waitUntilReady(listServices(readEnvironment()));
      }
    },
    async stop() {
      isStopping = true;
      starter.kill('SIGTERM');
      await Promise.race([ended(starter), sleep(stopMs, undefined, { ref: false })]);
      killAll(mark);
    },
    kill() {
      isStopping = true;
      killAll(mark);
    },
  };
}

function listRoles(processes: readonly SystemProcess[]): string {
  return processes.map(({ role }) => role).join(', ') || 'nothing';
}

/** Databases and topics of this run on servers that others may use too, and no rate limit for the load. */
function systemVariables(mark: string): Record<string, string> {
  const name = `faults_${mark.slice(0, 8)}`;
  const variables: Record<string, string> = { [variableName('gateway', 'RATE_LIMITS')]: 'serviceWorker=100000000' };
  for (const entry of services) {
    const { name: service, hasStore, publishes } = entry;
    const usesBus = publishes.length + consumedTopics(entry).length > 0;
    if (process.env.MONGODB_URI && hasStore)
      variables[variableName(service, 'MONGODB_DATABASE')] = `${name}_${service}`;
    if (process.env.MONGODB_URI && usesBus) {
      variables[variableName(service, 'EVENT_LOG_MONGODB_DATABASE')] = `${name}_events`;
    }
    if (process.env.KAFKA_BROKERS && usesBus) variables[variableName(service, 'KAFKA_PREFIX')] = `${name}.`;
  }
  return variables;
}

function listServices(environment: Environment): string[] {
  return services.map(({ name }) => `http://127.0.0.1:${environment[variableName(name, 'HTTP_PORT')]}`);
}

async function ended(child: ChildProcess): Promise<undefined> {
  if (child.exitCode === null && child.signalCode === null) await once(child, 'exit');
  return undefined;
}

/** Resolves with the URL of the gateway when the starter has printed that the system is ready. */
function readyUrl(child: ChildProcess): Promise<string> {
  let printed = '';
  return new Promise((resolve) => {
    child.stdout?.on('data', (chunk: Buffer) => {
      printed = (printed + chunk.toString()).slice(-10_000);
      const url = /^ready (\S+)$/m.exec(printed)?.[1];
      if (url !== undefined) resolve(url);
    });
  });
}
