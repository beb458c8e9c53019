import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { developmentKeys } from '@ticketing/testkit/development-keys.ts';
import { signToken } from '@ticketing/testkit/sign-token.ts';
import { afterAll, expect, test } from 'vitest';
import { currentBuild } from '../dev/build.ts';
import { startConstantLoad } from './constant-load.ts';
import { buildRevision, findPreviousVersion } from './previous-version.ts';
import { type Replica, type ReplicatedSystem, startReplicatedSystem } from './replicated-system.ts';
import { roll } from './roll.ts';

const dataDir = mkdtempSync(join(tmpdir(), 'ticketing-upgrade-'));
const previous = findPreviousVersion();
let system: ReplicatedSystem | undefined;

afterAll(async () => {
  await system?.stop();
  rmSync(dataDir, { recursive: true, force: true });
});

// guarantee: F37
test('the previous version and this one share a store, and the change from one to the other fails no request', async (context) => {
  if ('missing' in previous) return context.skip(previous.missing);
  const [old, current] = [await buildRevision(previous.revision), await currentBuild()];
  // Two processes of tickets, so that both versions run side by side. Two gateways, so that they can be restarted too.
  const isDoubled = (name: string) => ['tickets', 'gateway'].includes(name);
  system = await startReplicatedSystem({ dataDir, bundles: old, count: (name) => (isDoubled(name) ? 2 : 1) });
  const token = await issueToken();
  const load = startConstantLoad({ url: system.url, token, rate: 10 });
  await expect.poll(() => load.tickets.size).toBeGreaterThan(3);
  await system.setUp(current);
  await roll(system, current, ({ service, index }) => service === 'tickets' && index === 0);
  // New gateways open new connections, to the old process and to the new one.
  await roll(system, current, ({ service }) => service === 'gateway');
  // Both serve together: each creates tickets, and reads and changes what the other has written.
  const mixed = system.replicas.filter(({ service }) => service === 'tickets');
  for (const replica of mixed) await expect.poll(() => createdBy(replica), { timeout: 60_000 }).toBeGreaterThan(1);
  await roll(system, current, ({ service, index }) => service === 'tickets' && index === 1);
  await load.stop();
  expect(load.failures, readFileSync(join(dataDir, 'system.log'), 'utf8').slice(-2_000)).toEqual([]);
  await expect.poll(() => wrongTickets(load.tickets, token), { timeout: 60_000 }).toEqual([]);
  await expect.poll(() => missingEvents(load.tickets, token), { timeout: 60_000 }).toEqual([]);
}, 500_000);

/** How many tickets a process has created. */
async function createdBy({ ports }: Replica): Promise<number> {
  const metrics = await (await fetch(`http://127.0.0.1:${ports.internal}/metrics`)).text();
  return Number(/^ticketing_requests_total\{[^}]*route="POST \/ticket"[^}]*\} (\d+)$/m.exec(metrics)?.[1] ?? 0);
}

function issueToken(): Promise<string> {
  const caller = { sub: '7', kind: 'serviceWorker', roleId: 1 };
  return signToken(developmentKeys(dataDir).issuerKeyFile, caller, 3_600);
}

async function get(path: string, token: string): Promise<Response> {
  return fetch(new URL(path, system?.url), { headers: { authorization: `Bearer ${token}` } });
}

/** The tickets that are not as they were acknowledged, or newer: an analysis changes them later. */
async function wrongTickets(tickets: ReadonlyMap<number, number>, token: string): Promise<number[]> {
  const wrong: number[] = [];
  for (const [id, acknowledged] of tickets) {
    const response = await get(`/ticket/${id}`, token);
    const { version } = (await response.json()) as { version: number };
    if (response.status !== 200 || version < acknowledged) wrong.push(id);
  }
  return wrong;
}

/** The acknowledged versions of tickets of which the feed has no event: the relays of both versions have sent the others. */
async function missingEvents(tickets: ReadonlyMap<number, number>, token: string): Promise<string[]> {
  const seen = new Set<string>();
  for (let after = ''; ; ) {
    const page = (await (await get(`/event?limit=500${after}`, token)).json()) as {
      events: { ticketId: number; version: number }[];
      next: string;
    };
    for (const { ticketId, version } of page.events) seen.add(`${ticketId}/${version}`);
    if (page.events.length === 0) break;
    after = `&after=${page.next}`;
  }
  const all = [...tickets].flatMap(([id, last]) => Array.from({ length: last }, (_, index) => `${id}/${index + 1}`));
  return all.filter((name) => !seen.has(name));
}
