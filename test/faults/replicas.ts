import { type ChildProcess, spawn } from 'node:child_process';
import type { Environment } from '@ticketing/runtime/config-reader.ts';
import { services, variableOf } from '@ticketing/system/services.ts';
import { serviceProgram } from '../../tools/dev/services.ts';
import type { SystemLog } from './log.ts';
import { replicaName } from './processes.ts';

/** Second processes of services, which share the background work with the first ones. */
export interface Replicas {
  /** Starts them with the current variables of the system. */
  start(): void;
  /** Kills them. */
  stop(): void;
}

/** The services with background work, and the roles of their second processes: all but `api`. */
const replicated = services.flatMap((entry) => {
  const roles = entry.roles.filter((role) => role !== 'api');
  return roles.length === 0 ? [] : [{ entry, roles: roles.join() }];
});
const restartMs = 1_000;

/** Runs a second process of each service with background work, with further variables, and restarts it when it ends. */
export async function superviseReplicas(
  variables: Environment,
  readEnvironment: () => Environment,
  log: Pick<SystemLog, 'listen'>,
): Promise<Replicas> {
  const programs = await Promise.all(
    replicated.map(async (one) => ({ ...one, program: await serviceProgram(one.entry.name) })),
  );
  const children = new Set<ChildProcess>();
  let generation = 0;

  function run(replica: (typeof programs)[number], of: number): void {
    if (of !== generation) return;
    const { name } = replica.entry;
    const ports = Object.fromEntries(
      ['HTTP_PORT', 'INTERNAL_PORT', 'GRPC_PORT'].map((port) => [variableOf(name, port), '0']),
    );
    const roles = { [variableOf(name, 'ROLES')]: replica.roles };
    const child = spawn(process.execPath, replica.program, {
      stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
      detached: true,
      env: { ...process.env, ...readEnvironment(), ...variables, ...ports, ...roles, [replicaName]: 'true' },
    });
    log.listen(child);
    children.add(child);
    child.once('exit', () => {
      children.delete(child);
      setTimeout(() => run(replica, of), restartMs);
    });
  }

  return {
    start() {
      generation += 1;
      for (const replica of programs) run(replica, generation);
    },
    stop() {
      generation += 1;
      for (const child of children) child.kill('SIGKILL');
    },
  };
}
