import { services } from '@ticketing/system/services.ts';
import { expect, test } from 'vitest';
import { disturb } from './disturb.ts';
import type { SystemProcess } from './processes.ts';
import { seededRandom } from './random.ts';

const disturbed = ['starter', 'store', ...services.map(({ name }) => name)];
const running: SystemProcess[] = [...disturbed, 'other'].map((role, pid) => ({ pid, role, isClient: false }));
const client: SystemProcess = { pid: 1_000, role: 'receiver of all', isClient: true };
const second: SystemProcess = { pid: 1_001, role: 'second settings', isClient: false };

/**
 * Runs faults, without pauses between them, on a stub of a system and its servers. Returns the faults in their order.
 */
async function listFaults(
  seed: number,
  kills: number,
  processes: SystemProcess[],
  hasServers: boolean,
  focus?: string,
) {
  const faults: string[] = [];
  const count = { kills: 0, killsOf: new Map<string, number>(), freezes: 0, last: '' };
  let acknowledged = 0;
  const record = (what: string) => async () => void faults.push(what);
  await disturb({
    system: {
      processes: () => processes,
      signal: ({ role }, signal) => faults.push(`${signal} ${role}`) > 0,
      log: { note: () => undefined },
    },
    servers: hasServers
      ? {
          restart: (name, how) => record(`${how} ${name}`)(),
          freeze: (name) => record(`freeze ${name}`)(),
          isDisturbed: () => false,
          restored: record('restored'),
        }
      : undefined,
    random: seededRandom(seed),
    kills,
    focus,
    secondsBetween: 0,
    count,
    recoveries: { begin: () => undefined },
    acknowledged() {
      acknowledged += 100;
      return acknowledged;
    },
    signal: new AbortController().signal,
    freezeMs: { shortest: 1, longest: 2 },
  });
  return { faults, count };
}

test('kills the given number of times, every process but unknown ones, and the same for the same seed', async () => {
  const { faults, count } = await listFaults(1, 80, running, false);
  expect(count.kills).toBe(80);
  const killed = faults.filter((fault) => fault.startsWith('SIGKILL')).map((fault) => fault.split(' ')[1]);
  expect(new Set(killed)).toEqual(new Set(disturbed));
  const again = await listFaults(1, 80, running, false);
  expect(again.faults.filter((fault) => fault.startsWith('SIGKILL'))).toEqual(
    faults.filter((fault) => fault.startsWith('SIGKILL')),
  );
});

test('kills clients too, as a quarter of the processes', async () => {
  const { count } = await listFaults(1, 200, [...running, client], false);
  expect(count.killsOf.get(client.role)).toBeGreaterThan(20);
  expect(count.killsOf.get(client.role)).toBeLessThan(80);
});

test('kills a service in the focus the given number of times, its second process included', async () => {
  const { faults, count } = await listFaults(1, 60, [...running, client, second], false, 'settings');
  expect(count.killsOf.get('settings')).toBe(60);
  expect(count.kills).toBeGreaterThan(80);
  expect(count.kills).toBeLessThan(200);
  expect(faults).toContain('SIGKILL second settings');
});

test('kills every service about equally often, so that as few kills as there are services hit each', async () => {
  const replicas = running.map((one) => ({ ...one, pid: one.pid + 100, role: `second ${one.role}` }));
  for (const seed of [1, 2, 3]) {
    const { count } = await listFaults(seed, 20, [...running, ...replicas.slice(2, -1)], false);
    for (const { name } of services) expect(count.killsOf.get(name)).toBeGreaterThan(0);
  }
});

test('thaws (SIGCONT) every process that it has frozen (SIGSTOP)', async () => {
  const { faults, count } = await listFaults(2, 60, running, false);
  expect(count.freezes).toBeGreaterThan(0);
  for (const [index, fault] of faults.entries()) {
    const [signal, role] = fault.split(' ');
    if (signal === 'SIGSTOP') expect(faults.slice(index)).toContain(`SIGCONT ${role}`);
  }
});

test('kills, stops and freezes the servers too, and waits until they are restored', async () => {
  const { faults } = await listFaults(3, 60, [], true);
  const kinds = ['kill broker', 'stop broker', 'freeze broker', 'kill database', 'stop database', 'freeze database'];
  expect(new Set(faults)).toEqual(new Set([...kinds, 'restored']));
  expect(faults.at(-1)).toBe('restored');
});
