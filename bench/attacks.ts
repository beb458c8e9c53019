import { fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { signToken } from '@ticketing/testkit/sign-token.ts';
import { type AttackTarget, attacks } from './attack-list.ts';
import type { AttackOrder } from './attacker.ts';
import { type Latency, measureLatency, type NextRequest } from './load.ts';
import { readResidentBytes } from './process-figures.ts';
import type { BenchSystem } from './system.ts';
import { alignColumns, printNumber } from './table.ts';

/** What an attack did to the tickets service and to another caller. Units: bytes, ms. */
export interface AttackResult {
  name: string;
  /** What the attacker saw. */
  seen: string;
  residentBytes: { before: number; peak: number };
  /** The p99 of another caller; undefined if a request of that caller failed. */
  p99: { before: number | undefined; during: number | undefined };
}

/** How the attacks are measured. */
export interface AttackPlan {
  seconds: number;
  progress(text: string): void;
}

const readsPerSecond = 50;
const caller = { sub: '990', kind: 'serviceWorker', roleId: 1 };
const attackerClaims = { sub: '991', kind: 'serviceWorker', roleId: 1 };

/** Attacks the tickets service of a system in several ways, and measures another caller and the memory meanwhile. */
export async function measureAttacks(system: BenchSystem, { seconds, progress }: AttackPlan): Promise<AttackResult[]> {
  const { keys, url } = system;
  const { environment, pid } = system.service('tickets');
  const port = (name: string) => Number(environment.get(`TICKETING_TICKETS_${name}_PORT`));
  const target: AttackTarget = {
    tickets: { http: port('HTTP'), grpc: port('GRPC') },
    gatewayPort: Number(new URL(url).port),
    token: await signToken(keys.issuerKeyFile, attackerClaims, 86_400),
  };
  const headers = { authorization: `Bearer ${await signToken(keys.issuerKeyFile, caller, 86_400)}` };
  const created = await fetch(`${url}/ticket`, {
    method: 'POST',
    headers: { ...headers, 'content-type': 'application/json' },
    body: '{"channel":"chat","body":"an ordinary ticket"}',
  });
  const { id } = (await created.json()) as { id: number };
  const read: NextRequest = () => ({ method: 'GET', path: `/ticket/${id}` });
  const p99 = (forSeconds: number) =>
    measureLatency({ url, headers }, read, { seconds: forSeconds, connections: 8, rate: readsPerSecond }).then(
      (latency: Latency) => latency.p99,
      () => undefined,
    );
  const results: AttackResult[] = [];
  const attacker = startAttacker();
  for (const { name } of attacks) {
    progress(name);
    await attacker.send({ name, target, forMs: undefined });
    const before = await p99(seconds);
    const memory = watchMemory(pid);
    const [during, seen] = await Promise.all([
      p99(seconds * 2),
      attacker.send({ name, target, forMs: seconds * 2000 }),
    ]);
    results.push({ name, seen, residentBytes: memory.stop(), p99: { before, during } });
  }
  attacker.stop();
  return results;
}

/** Starts the process of the attacker. */
function startAttacker() {
  const child = fork(join(import.meta.dirname, 'attacker.ts'));
  return {
    async send(order: AttackOrder): Promise<string> {
      child.send(order);
      const [seen] = await once(child, 'message');
      return seen;
    },
    stop: () => child.kill(),
  };
}

function watchMemory(pid: number) {
  const resident = () => {
    try {
      return readResidentBytes(pid);
    } catch {
      // The service has died.
      return Number.NaN;
    }
  };
  const before = resident();
  let peak = before;
  const timer = setInterval(() => {
    peak = Math.max(peak, resident());
  }, 50);
  return {
    stop() {
      clearInterval(timer);
      return { before, peak };
    },
  };
}

/** Writes the results as a table for a terminal. */
export function printAttacks(results: readonly AttackResult[]): string {
  const header = ['attack', 'the attacker saw', 'MB before', 'MB peak', 'p99 before', 'p99 during', 'ratio'];
  const rows = results.map(({ name, seen, residentBytes, p99 }) => [
    name,
    seen,
    printNumber(residentBytes.before / 1e6),
    printNumber(residentBytes.peak / 1e6),
    p99.before === undefined ? 'failed' : printNumber(p99.before),
    p99.during === undefined ? 'failed' : printNumber(p99.during),
    p99.before === undefined || p99.during === undefined ? '' : printNumber(p99.during / p99.before),
  ]);
  return `${alignColumns([header, ...rows], [2, 3, 4, 5, 6])}

p99 of another caller who reads a ticket at ${readsPerSecond}/s, in ms; MB of the tickets service.`;
}
