import { fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import type { Target } from './load.ts';

/** The bare routes, running in a separate process. */
export interface BareProcess extends Target {
  stop(): Promise<void>;
}

/** Starts the bare routes on the engine of the system. Errors: they did not start. */
export async function startBare(mongodbUri: string, enginePid: number): Promise<BareProcess> {
  const child = fork(join(import.meta.dirname, 'bare-server.ts'), [mongodbUri]);
  const exited = once(child, 'exit').then(() => {
    throw new Error('The bare routes could not be started.');
  });
  exited.catch(() => undefined);
  const [{ port }] = (await Promise.race([once(child, 'message'), exited])) as [{ port: number }];
  return {
    url: `http://127.0.0.1:${port}`,
    headers: {},
    processes: { bare: child.pid ?? 0, engine: enginePid },
    async stop() {
      child.kill('SIGTERM');
      if (child.exitCode === null) await once(child, 'exit');
    },
  };
}
