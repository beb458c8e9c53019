import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';

/** The servers that `npm start` does not start itself. */
export const serverNames = ['broker', 'database'] as const;

export type ServerName = (typeof serverNames)[number];

/** Servers that a command kills, stops or freezes, and always restores. */
export interface Servers {
  /** Kills or stops a server, and starts it again after `downMs`. Resolves when it has been started. */
  restart(name: ServerName, how: 'kill' | 'stop', downMs: number): Promise<void>;
  /** Freezes a server for `ms`. */
  freeze(name: ServerName, ms: number): Promise<void>;
  /** Whether a server is killed, stopped or frozen now. */
  isDisturbed(name: ServerName): boolean;
  /** Resolves when all servers are restored. Errors: throws if the command has failed. */
  restored(): Promise<void>;
}

/** Opens servers that are controlled by a command: `COMMAND kill|start|stop|freeze|thaw broker|database`. */
export function openServers(command: string): Servers {
  const disturbed = new Map<ServerName, Promise<void>>();
  const failures: unknown[] = [];

  async function run(action: string, name: ServerName): Promise<void> {
    const child = spawn(`${command} ${action} ${name}`, { shell: true, stdio: ['ignore', 'ignore', 'inherit'] });
    const [code] = await once(child, 'exit');
    if (code !== 0) throw new Error(`${command} ${action} ${name} has ended with ${code}.`);
  }

  function disturb(name: ServerName, begin: string, ms: number, end: string): Promise<void> {
    const disturbance = (async () => {
      try {
        await run(begin, name);
        await sleep(ms);
      } finally {
        await run(end, name);
      }
    })()
      .catch((error: unknown) => void failures.push(error))
      .finally(() => disturbed.delete(name));
    disturbed.set(name, disturbance);
    return disturbance;
  }

  return {
    restart: (name, how, downMs) => disturb(name, how, downMs, 'start'),
    freeze: (name, ms) => disturb(name, 'freeze', ms, 'thaw'),
    isDisturbed: (name) => disturbed.has(name),
    async restored() {
      await Promise.all(disturbed.values());
      if (failures.length > 0) throw failures[0];
    },
  };
}
