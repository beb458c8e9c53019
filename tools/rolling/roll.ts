import type { Replica, ReplicatedSystem } from './replicated-system.ts';

/** A restart of one process. Units: ms. */
export interface Restart {
  name: string;
  stopMs: number;
  startMs: number;
}

/**
 * Restarts the processes of services one after the other, each by SIGTERM, while the others go on. The new ones run the
 * bundles in a folder.
 */
export async function roll(
  { replicas }: ReplicatedSystem,
  bundles: string,
  isRolled: (replica: Replica) => boolean,
): Promise<Restart[]> {
  const restarts: Restart[] = [];
  for (const replica of replicas.filter(isRolled)) {
    const stopMs = await replica.stop();
    const startedAt = performance.now();
    await replica.start(bundles);
    restarts.push({ name: `${replica.service} ${replica.index}`, stopMs, startMs: performance.now() - startedAt });
  }
  return restarts;
}
