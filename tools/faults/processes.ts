import { readdirSync, readFileSync } from 'node:fs';
import { services } from '@ticketing/system/services.ts';

/** A running process of the system. */
export interface SystemProcess {
  pid: number;
  /**
   * The name of its service, `starter` (npm start, or the program that starts two processes of each), `store`, or
   * `other`; a replica has `second ` before it. For a client, its name.
   */
  role: string;
  /** Whether it is a client of the system: a receiver of webhooks, or a reader of the feed. */
  isClient: boolean;
}

/**
 * A variable in the environment of the starter, which all processes that it starts inherit. Only processes with this
 * variable, whose value marks one run, are signalled.
 */
export const markName = 'TICKETING_TEST_FAULTS_RUN';

/** A variable in the environment of the second process of a service. */
export const replicaName = 'TICKETING_TEST_FAULTS_REPLICA';

/** A variable in the environment of a client of the system: its name. */
export const clientName = 'TICKETING_TEST_FAULTS_CLIENT';

/** The role of each program of the system, by a part of its command line. */
const programs: readonly (readonly [part: string, role: string])[] = [
  ['tools/cli/start.ts', 'starter'],
  ['faults/replicated-starter.ts', 'starter'],
  ...services.map(({ name }) => [`/${name}/main.mjs`, name] as const),
  ['embedded-mongo/src/host.ts', 'store'],
];

/** Finds the processes with a mark, including those whose parent has ended. */
export function findProcesses(mark: string): SystemProcess[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .flatMap((name) => marked(Number(name), mark));
}

/** Signals a process, unless it has ended and another has its id now. Returns whether it was signalled. */
export function signalProcess(found: SystemProcess, mark: string, signal: NodeJS.Signals): boolean {
  const [current] = marked(found.pid, mark);
  if (current?.role !== found.role) return false;
  try {
    return process.kill(found.pid, signal);
  } catch {
    // It has ended meanwhile.
    return false;
  }
}

/** Kills all processes with a mark, frozen ones too. */
export function killAll(mark: string): void {
  for (const found of findProcesses(mark)) signalProcess(found, mark, 'SIGKILL');
}

function marked(pid: number, mark: string): SystemProcess[] {
  try {
    const read = (name: string) => readFileSync(`/proc/${pid}/${name}`, 'utf8').split('\0');
    const environment = read('environ');
    if (!environment.includes(`${markName}=${mark}`)) return [];
    const command = read('cmdline').join(' ');
    const role = programs.find(([part]) => command.includes(part))?.[1] ?? 'other';
    const isReplica = environment.includes(`${replicaName}=true`);
    const client = environment.find((one) => one.startsWith(`${clientName}=`))?.slice(clientName.length + 1);
    return [{ pid, role: client ?? (isReplica ? `second ${role}` : role), isClient: client !== undefined }];
  } catch {
    // It has ended, or belongs to another user.
    return [];
  }
}
