import { once } from 'node:events';
import { join } from 'node:path';
import { damageLargestFile } from '@ticketing/testkit/damage-file.ts';
import { seededBytes } from '@ticketing/testkit/seed.ts';
import { expect, it } from 'vitest';
import { openPrograms, outcome } from './started-programs.ts';

const { data, run, start } = openPrograms();

it('names the damaged file when the store ends itself because it has read it', async () => {
  const { child, url, output, errorOutput } = await start();
  const [, token = ''] = /Bearer (\S+)'/.exec(output) ?? [];
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
  const base64 = seededBytes(8 * 1024 * 1024).toString('base64');
  const body = { channel: 'email', from: 'kim@example.com', attachments: [{ name: 'f', base64 }] };
  const created = await fetch(`${url}/ticket`, { method: 'POST', headers, body: JSON.stringify(body) });
  const { attachments } = (await created.json()) as { attachments: { id: string }[] };
  child.kill('SIGINT');
  await once(child, 'exit');
  const damaged = await damageLargestFile(join(data(), 'mongodb'));
  const again = await start();
  const file = `${again.url}/ticket/1/attachment/${attachments[0]?.id}`;
  await fetch(file, { headers })
    .then((response) => response.arrayBuffer())
    .catch(() => undefined);
  expect(await once(again.child, 'exit')).toEqual([1, null]);
  expect(again.errorOutput()).toContain(`is damaged: ${damaged} in `);
  expect(again.errorOutput()).toContain('restore a backup (docs/operations/backup.md)');
  expect(errorOutput()).toBe('');
});

it('holds its folder and its port, and serves npm run events', async () => {
  const { url } = await start();
  const [folder, port, drained, listed] = await Promise.all([
    outcome(run('start', ['--port', '0'])),
    outcome(run('start', ['--port', new URL(url).port])),
    outcome(run('events', ['drain'])),
    outcome(run('events', ['dead-letters'])),
  ]);
  expect(folder).toMatchObject({ code: 1, error: expect.stringMatching(/^[^\n]* in use by another process\.\n$/) });
  expect(port).toMatchObject({ code: 1, error: expect.stringMatching(/^Port \d+ is taken; [^\n]*\n$/) });
  expect(drained).toMatchObject({ code: 0, error: '' });
  expect(listed).toEqual({ code: 0, out: expect.stringMatching(/^(\w+: 0 dead letters\n){6}$/), error: '' });
});

it('with --tls has TLS between all parts, and the demo plays against it', async () => {
  const { url } = await start('--tls');
  expect(url).toMatch(/^https:/);
  await expect(fetch(`${url}/healthz`)).rejects.toThrow('fetch failed');
  const demo = await outcome(run('demo', ['--port', new URL(url).port]));
  expect(demo).toMatchObject({ code: 0, out: expect.stringContaining('→ 200 OK') });
});
