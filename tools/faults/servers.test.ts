import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { openServers } from './servers.ts';

const folder = mkdtempSync(join(tmpdir(), 'ticketing-servers-'));
const calls = join(folder, 'calls');
const calledWith = () => readFileSync(calls, 'utf8').trim().split('\n');

afterAll(() => rmSync(folder, { recursive: true }));

test('starts a server that it has killed, and thaws one that it has frozen', async () => {
  const servers = openServers(`echo >> ${calls}`);
  const killed = servers.restart('broker', 'kill', 10);
  expect(servers.isDisturbed('broker')).toBe(true);
  expect(servers.isDisturbed('database')).toBe(false);
  await killed;
  await servers.freeze('database', 10);
  await servers.restored();
  expect(servers.isDisturbed('broker')).toBe(false);
  expect(calledWith()).toEqual(['kill broker', 'start broker', 'freeze database', 'thaw database']);
});

test('reports at the end that the command has failed', async () => {
  const servers = openServers('false');
  await servers.freeze('broker', 1);
  await expect(servers.restored()).rejects.toThrow('false thaw broker has ended with 1.');
});
