import { execFileSync } from 'node:child_process';
import { setTimeout } from 'node:timers/promises';
import { services } from '@ticketing/system/services.ts';
import { expect, it, vi } from 'vitest';
import { findChildren, isAlive, openPrograms } from './started-programs.ts';

const { start } = openPrograms();

/** The resident memory of a process, in MB. */
const residentMb = (pid: number | undefined) =>
  Number(execFileSync('ps', ['-o', 'rss=', '-p', String(pid)], { encoding: 'utf8' })) / 1024;

it('takes at most 450 MB before the first request, in all its processes', async () => {
  const { child } = await start();
  const memory = () => [child, ...findChildren(child.pid)].reduce((sum, { pid }) => sum + residentMb(pid), 0);
  await expect.poll(memory).toBeLessThan(450);
  // The memory stays below the limit.
  for (let nth = 0; nth < 10; nth++) {
    await setTimeout(500);
    expect(memory()).toBeLessThan(450);
  }
});

// It builds the services, and kills some.
it('with --split restarts a service that dies, and leaves no process behind when it is killed itself', async () => {
  const { child, url, errorOutput } = await start('--split');
  const described = async () => {
    const document = (await (await fetch(`${url}/openapi.json`)).json()) as { paths: object };
    return Object.keys(document.paths);
  };
  await vi.waitFor(async () => expect(await described()).toEqual(expect.arrayContaining(['/ticket/search'])), {
    timeout: 60_000,
  });
  const gateway = findChildren(child.pid).find(({ args }) => args.includes('gateway'));
  process.kill(gateway?.pid ?? 0, 'SIGKILL');
  await vi.waitFor(() => expect(errorOutput()).toContain('gateway has ended (SIGKILL); it is restarted in 250 ms.'), {
    timeout: 60_000,
  });
  await vi.waitFor(async () => expect((await fetch(`${url}/readyz`)).status).toBe(200), { timeout: 60_000 });
  const all = findChildren(child.pid);
  const store = 1;
  expect(all).toHaveLength(services.length + store);
  expect(residentMb(child.pid)).toBeLessThan(150);
  child.kill('SIGKILL');
  await vi.waitFor(() => expect(all.filter(({ pid }) => isAlive(pid))).toEqual([]), { timeout: 120_000 });
});
