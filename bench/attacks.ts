import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { signToken, type TokenClaims } from '@ticketing/testkit/sign-token.ts';
import { type AttackTarget, attacks } from './attack-list.ts';
import type { AttackOrder } from './attacker.ts';
import { attackerProcess } from './attacker-process.ts';
import { type BenchPlan, call, type Latency, measureLatency, type NextRequest } from './load.ts';
import { watchMemory } from './process-figures.ts';
import type { BenchSystem } from './system.ts';
import { alignColumns, printNumber } from './table.ts';

/** The effects of an attack on a service and on other callers. Units: bytes, ms. */
export interface AttackResult {
  name: string;
  /** The result for the attacker, in a few words. */
  seen: string;
  residentBytes: { before: number; peak: number };
  /** The p99 of each victim, by its name. */
  p99: Record<VictimName, VictimLatency>;
}

/** The p99 of a victim; undefined if one of its requests failed. */
interface VictimLatency {
  before: number | undefined;
  /** While a process that sends nothing uses as much processor time as the attacker. */
  control: number | undefined;
  during: number | undefined;
}

/** The callers that are measured: one reads a ticket, and one posts tickets with 100 kB of HTML. */
type VictimName = 'read' | 'post';

const readsPerSecond = 50;
const postsPerSecond = 2;
const reader = { sub: '990', kind: 'serviceWorker', roleId: 1 };
const attackerClaims = { sub: '991', kind: 'serviceWorker', roleId: 1 };
const poster = { sub: '992', kind: 'serviceWorker', roleId: 1 };

/** Attacks the services of a system in several ways, and measures other callers and the memory meanwhile. */
export async function measureAttacks(
  system: BenchSystem,
  { seconds, attack, progress }: BenchPlan,
): Promise<AttackResult[]> {
  const target = await attackTarget(system);
  const victims = await startVictims(system);
  // The first requests of a new system are slow.
  await victims.p99(seconds);
  const results: AttackResult[] = [];
  const attacker = attackerProcess<AttackOrder>(join(import.meta.dirname, 'attacker.ts'));
  for (const { name, service = 'tickets' } of attacks.filter((one) => one.name.includes(attack))) {
    progress(name);
    const prepared = await attacker.send({ name, target, forMs: undefined });
    const before = await victims.p99(seconds);
    const memory = watchMemory(system.service(service).pid);
    const [during, seen] = await Promise.all([
      victims.p99(seconds * 2),
      prepared || attacker.send({ name, target, forMs: seconds * 2000 }),
    ]);
    const residentBytes = memory.stop();
    const [control] = await Promise.all([
      victims.p99(seconds * 2),
      prepared || attacker.send({ name, target, forMs: seconds * 2000, isControl: true }),
    ]);
    const p99 = (victim: VictimName) => ({
      before: before[victim],
      control: control[victim],
      during: during[victim],
    });
    results.push({ name, seen, residentBytes, p99: { read: p99('read'), post: p99('post') } });
  }
  attacker.stop();
  return results;
}

async function attackTarget({ keys, url, service }: BenchSystem): Promise<AttackTarget> {
  const { environment } = service('tickets');
  const port = (name: string) => Number(environment.get(`TICKETING_TICKETS_${name}_PORT`));
  return {
    tickets: { http: port('HTTP'), grpc: port('GRPC') },
    gatewayPort: Number(new URL(url).port),
    token: await signToken(keys.issuerKeyFile, attackerClaims, 86_400),
  };
}

/** Makes the victims. `p99` measures both at the same time. */
async function startVictims({ url, keys }: BenchSystem) {
  const toHeaders = async (claims: TokenClaims) => ({
    authorization: `Bearer ${await signToken(keys.issuerKeyFile, claims, 86_400)}`,
  });
  const [readHeaders, postHeaders] = [await toHeaders(reader), await toHeaders(poster)];
  const ticket = { channel: 'chat', body: 'an ordinary ticket' };
  const { id } = await call({ url, headers: readHeaders }, { method: 'POST', path: '/ticket', body: ticket });
  const read: NextRequest = () => ({ method: 'GET', path: `/ticket/${id}` });
  const post = () =>
    fetch(`${url}/ticket`, {
      method: 'POST',
      headers: { ...postHeaders, ...json },
      body: htmlTicket,
      signal: tooLate(),
    });
  return {
    async p99(seconds: number): Promise<Record<VictimName, number | undefined>> {
      const [readP99, postP99] = await Promise.all([
        measureLatency({ url, headers: readHeaders }, read, { seconds, connections: 8, rate: readsPerSecond }).then(
          (latency: Latency) => latency.p99,
          () => undefined,
        ),
        slowest(post, seconds * postsPerSecond).catch(() => undefined),
      ]);
      return { read: readP99, post: postP99 };
    },
  };
}

const json = { 'content-type': 'application/json' };
const htmlTicket = JSON.stringify({
  channel: 'chat',
  body: '<p>An <b>ordinary</b> paragraph of a mail.</p>\n'.repeat(2_128),
});
const tooLate = () => AbortSignal.timeout(30_000);

/**
 * Sends requests at the rate of posts, and returns the slowest latency, which is the p99 of so small a number. Waits
 * for all responses, which may take longer than the measurement. Errors: a response that is not a success.
 */
async function slowest(send: () => Promise<Response>, count: number): Promise<number> {
  const latencies = Array.from({ length: count }, async (_, index) => {
    await setTimeout((index * 1000) / postsPerSecond);
    const startedAt = performance.now();
    const response = await send();
    await response.arrayBuffer();
    if (!response.ok) throw new Error(`The response is ${response.status}.`);
    return performance.now() - startedAt;
  });
  return Math.max(...(await Promise.all(latencies)));
}

/** Writes the results as a table for a terminal. */
export function printAttacks(results: readonly AttackResult[]): string {
  const header = ['attack', 'the attacker saw', 'MB before', 'MB peak'];
  const latencyHeader = ['before', 'control', 'during', 'ratio'];
  const names: VictimName[] = ['read', 'post'];
  const rows = results.map(({ name, seen, residentBytes, p99 }) => [
    name,
    seen,
    printNumber(residentBytes.before / 1e6),
    printNumber(residentBytes.peak / 1e6),
    ...names.flatMap((victim) => printLatency(p99[victim])),
  ]);
  const allHeaders = [...header, ...names.flatMap((name) => latencyHeader.map((text) => `${name} ${text}`))];
  return `${alignColumns([allHeaders, ...rows], [2, 3, 4, 5, 6, 7, 8, 9, 10, 11])}

p99 in ms of two other callers, before the attack and during it: one reads a ticket at ${readsPerSecond}/s, one posts tickets with
100 kB of HTML at ${postsPerSecond}/s. Control: while a process that sends nothing uses as much processor time as the attacker,
at the same pace. MB of the attacked service.`;
}

function printLatency({ before, control, during }: VictimLatency): string[] {
  const print = (p99: number | undefined) => (p99 === undefined ? 'failed' : printNumber(p99));
  const ratio = before === undefined || during === undefined ? '' : printNumber(during / before);
  return [print(before), print(control), print(during), ratio];
}
