import { type ChildProcess, spawn } from 'node:child_process';
import type { Environment } from '@ticketing/runtime/config-reader.ts';
import { serviceProgram } from '../../tools/dev/services.ts';
import type { SystemLog } from './log.ts';
import { replicaName } from './processes.ts';

/** Second processes of services, which share their work in the background. */
export interface Replicas {
  /** Starts them, as the system is configured now. */
  start(): void;
  /** Ends them at once. */
  stop(): void;
}

const rolesOf = { tickets: 'relay,scheduler', reporting: 'consumer,scheduler' };
const restartMs = 1_000;

/** Keeps a second relay and a second consumer running beside a system, with further variables. */
export async function keepReplicas(
  variables: Environment,
  readEnvironment: () => Environment,
  log: Pick<SystemLog, 'listen'>,
): Promise<Replicas> {
  const programs = { tickets: await serviceProgram('tickets'), reporting: await serviceProgram('reporting') };
  const children = new Set<ChildProcess>();
  let generation = 0;

  function run(service: 'tickets' | 'reporting', of: number): void {
    if (of !== generation) return;
    const ports = Object.fromEntries(
      ['HTTP_PORT', 'INTERNAL_PORT', 'GRPC_PORT'].map((name) => [`TICKETING_${service.toUpperCase()}_${name}`, '0']),
    );
    const roles = { [`TICKETING_${service.toUpperCase()}_ROLES`]: rolesOf[service] };
    const child = spawn(process.execPath, programs[service], {
      stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
      detached: true,
      env: { ...process.env, ...readEnvironment(), ...variables, ...ports, ...roles, [replicaName]: 'true' },
    });
    log.listen(child);
    children.add(child);
    child.once('exit', () => {
      children.delete(child);
      setTimeout(() => run(service, of), restartMs);
    });
  }

  return {
    start() {
      generation += 1;
      run('tickets', generation);
      run('reporting', generation);
    },
    stop() {
      generation += 1;
      for (const child of children) child.kill('SIGKILL');
    },
  };
}
