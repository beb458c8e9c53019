import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { attackerProcess } from './attacker-process.ts';

const folder = mkdtempSync(join(tmpdir(), 'ticketing-attacker-'));
afterAll(() => rmSync(folder, { recursive: true }));

const module = join(folder, 'attacker.mjs');
writeFileSync(
  module,
  `process.on('message', ({ order }) => {
    if (order === 'end') process.exit(3);
    else if (order === 'die') process.kill(process.pid, 'SIGKILL');
    else process.send(order + ' in ' + process.pid);
  });`,
);

test('an attacker that ends has failed, and the next attack has another one', async () => {
  const attacker = attackerProcess<{ order: string }>(module);
  const first = await attacker.send({ order: 'a' });
  expect(first).toMatch(/^a in \d+$/);
  expect(await attacker.send({ order: 'a' })).toBe(first);
  expect(await attacker.send({ order: 'end' })).toBe('failed: the attacker ended (3)');
  expect(await attacker.send({ order: 'die' })).toBe('failed: the attacker ended (SIGKILL)');
  const last = await attacker.send({ order: 'a' });
  expect(last).toMatch(/^a in \d+$/);
  expect(last).not.toBe(first);
  attacker.stop();
});
