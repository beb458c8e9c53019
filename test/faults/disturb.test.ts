import { expect, test } from 'vitest';
import { disturb } from './disturb.ts';
import type { SystemProcess } from './processes.ts';
import { seededRandom } from './random.ts';

const running: SystemProcess[] = ['starter', 'gateway', 'tickets', 'reporting', 'store', 'other'].map((role, pid) => ({
  pid,
  role,
}));

/** Runs faults at once on a system and servers that only tell what happens to them. */
async function told(seed: number, kills: number, processes: SystemProcess[], hasServers: boolean) {
  const faults: string[] = [];
  const count = { kills: 0, freezes: 0, last: '' };
  let acknowledged = 0;
  const tell = (what: string) => async () => void faults.push(what);
  await disturb({
    system: {
      processes: () => processes,
      signal: ({ role }, signal) => faults.push(`${signal} ${role}`) > 0,
      log: { note: () => undefined },
    },
    servers: hasServers
      ? {
          restart: (name, how) => tell(`${how} ${name}`)(),
          freeze: (name) => tell(`freeze ${name}`)(),
          isDisturbed: () => false,
          settled: tell('settled'),
        }
      : undefined,
    random: seededRandom(seed),
    kills,
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

test('kills as often as asked for, every process that takes part, and the same ones for the same seed', async () => {
  const { faults, count } = await told(1, 80, running, false);
  expect(count.kills).toBe(80);
  const killed = faults.filter((fault) => fault.startsWith('SIGKILL')).map((fault) => fault.split(' ')[1]);
  expect(new Set(killed)).toEqual(new Set(['starter', 'gateway', 'tickets', 'reporting', 'store']));
  const again = await told(1, 80, running, false);
  expect(again.faults.filter((fault) => fault.startsWith('SIGKILL'))).toEqual(
    faults.filter((fault) => fault.startsWith('SIGKILL')),
  );
});

test('thaws every process that it has frozen', async () => {
  const { faults, count } = await told(2, 60, running, false);
  expect(count.freezes).toBeGreaterThan(0);
  for (const [index, fault] of faults.entries()) {
    const [signal, role] = fault.split(' ');
    if (signal === 'SIGSTOP') expect(faults.slice(index)).toContain(`SIGCONT ${role}`);
  }
});

test('kills, stops and freezes the servers too, and waits until they are back', async () => {
  const { faults } = await told(3, 60, [], true);
  const kinds = ['kill broker', 'stop broker', 'freeze broker', 'kill database', 'stop database', 'freeze database'];
  expect(new Set(faults)).toEqual(new Set([...kinds, 'settled']));
  expect(faults.at(-1)).toBe('settled');
});
