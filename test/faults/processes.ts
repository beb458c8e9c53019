import { readdirSync, readFileSync } from 'node:fs';
import { services } from '@ticketing/system/services.ts';

/** A process of the system that is running. */
export interface SystemProcess {
  pid: number;
  role: string;
}

/** A variable that the starter is given, and so everything that it starts: nothing else is ever signalled. */
export const markName = 'TICKETING_TEST_FAULTS_RUN';

/** A variable of the second processes of services. */
export const replicaName = 'TICKETING_TEST_FAULTS_REPLICA';

/** The programs of the system, by a part of their command lines. */
const programs: readonly (readonly [part: string, role: string])[] = [
  ['scripts/start.ts', 'starter'],
  ...services.map(({ name }) => [`/${name}/main.mjs`, name] as const),
  ['embedded-mongo/src/host.ts', 'store'],
];

/** The processes that carry a mark, also those whose parent has ended. */
export function processesOf(mark: string): SystemProcess[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .flatMap((name) => describe(Number(name), mark));
}

/** Signals a process if it still is the one that was found. Answers whether it was. */
export function signalProcess(found: SystemProcess, mark: string, signal: NodeJS.Signals): boolean {
  const [current] = describe(found.pid, mark);
  if (current?.role !== found.role) return false;
  try {
    return process.kill(found.pid, signal);
  } catch {
    // It has ended in this moment.
    return false;
  }
}

/** Ends all processes that carry a mark at once, frozen ones too. */
export function killAll(mark: string): void {
  for (const found of processesOf(mark)) signalProcess(found, mark, 'SIGKILL');
}

function describe(pid: number, mark: string): SystemProcess[] {
  try {
    const read = (name: string) => readFileSync(`/proc/${pid}/${name}`, 'utf8').split('\0');
    const environment = read('environ');
    if (!environment.includes(`${markName}=${mark}`)) return [];
    const command = read('cmdline').join(' ');
    const role = programs.find(([part]) => command.includes(part))?.[1] ?? 'other';
    const isReplica = environment.includes(`${replicaName}=true`);
    return [{ pid, role: isReplica ? `second ${role}` : role }];
  } catch {
    // It has ended, or is somebody else's.
    return [];
  }
}
