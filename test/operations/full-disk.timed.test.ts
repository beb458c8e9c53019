import { execFileSync } from 'node:child_process';
import { appendFileSync, mkdtempSync, rmSync, statfsSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { command as doctor } from '../../tools/cli/doctor.ts';
import { type StartedSystem, startedSystem } from '../../tools/dev/started-system.ts';

const mib = 1024 * 1024;
let disk: string;
let isMounted = false;
let system: StartedSystem | undefined;

beforeEach(() => {
  disk = mkdtempSync(join(tmpdir(), 'full-disk-'));
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=700m', 'tmpfs', disk], { stdio: 'pipe' });
    isMounted = true;
  } catch {
    isMounted = false;
  }
});
afterEach(async () => {
  await system?.stop();
  system = undefined;
  if (isMounted) execFileSync('umount', ['--lazy', disk]);
  rmSync(disk, { recursive: true, force: true });
});

const filler = () => join(disk, 'filler');
const freeMib = () => Math.floor((statfsSync(disk).bavail * statfsSync(disk).bsize) / mib);

/** Writes as many bytes as the disk takes. */
function fillUp(): void {
  const piece = Buffer.alloc(mib, 1);
  for (let left = 4096; left > 0; left--) {
    try {
      appendFileSync(filler(), piece);
    } catch {
      return;
    }
  }
  throw new Error('the disk is larger than it should be');
}

/** Creates tickets with files until it is stopped. */
function load({ url, token }: StartedSystem) {
  const acknowledged: number[] = [];
  const outcomes: { at: number; tookMs: number; outcome: string }[] = [];
  let isRunning = true;
  const body = JSON.stringify({
    ...{ channel: 'chat', body: 'text', subject: 'a full disk' },
    attachments: [{ name: 'a', base64: Buffer.alloc(150_000, 7).toString('base64') }],
  });
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
  const createTicket = async () => {
    const response = await fetch(`${url}/ticket`, { method: 'POST', headers, body });
    const { id, code } = (await response.json()) as { id?: number; code?: string };
    return response.ok ? { id, outcome: 'ok' } : { id: undefined, outcome: `${response.status} ${code}` };
  };
  const write = async () => {
    while (isRunning) {
      const sentAt = performance.now();
      const { id, outcome } = await createTicket().catch((error: Error) => ({ id: undefined, outcome: error.message }));
      outcomes.push({ at: performance.now(), tookMs: performance.now() - sentAt, outcome });
      if (id !== undefined) acknowledged.push(id);
      await setTimeout(500);
    }
  };
  const writers = [write(), write(), write(), write()];
  const stop = async () => {
    isRunning = false;
    await Promise.all(writers);
  };
  return { acknowledged, outcomes, stop };
}

const get = ({ url, token }: StartedSystem, path: string) =>
  fetch(`${url}${path}`, { headers: { authorization: `Bearer ${token}` } });

// guarantee: F1
test('a disk that is full for a minute under load: no 500, nothing acknowledged is lost, reads and deletions go on, and writes are back within 5 s of space', async (context) => {
  if (!isMounted) context.skip('needs the right to mount a tmpfs');
  system = await startedSystem(join(disk, 'data'));
  const { acknowledged, outcomes, stop } = load(system);
  const first = () => outcomes.filter(({ outcome }) => outcome === 'ok').length;
  await expect.poll(first, { timeout: 60_000 }).toBeGreaterThan(8);
  fillUp();
  const fullFrom = performance.now();
  await expect.poll(() => outcomes.at(-1)?.outcome).toBe('503 storage_full');
  const [kept = 0, deleted = 0] = acknowledged;
  const findings: string[] = [];
  const print = (line: string) => findings.push(line);
  expect(await doctor(['--data', join(disk, 'data')], { env: {}, print, printError: print })).toBe(1);
  expect(findings.join('\n')).toMatch(/the disk of the database of [a-z, ]+ is full/);
  expect((await get(system, `/ticket/${kept}`)).status).toBe(200);
  const headers = { authorization: `Bearer ${system.token}` };
  expect((await fetch(`${system.url}/ticket/${deleted}`, { method: 'DELETE', headers })).ok).toBe(true);
  await setTimeout(Math.max(0, 60_000 - (performance.now() - fullFrom)));
  expect((await get(system, `/ticket/${kept}`)).status).toBe(200);
  const freedAt = performance.now();
  rmSync(filler());
  const back = () => outcomes.find(({ at, outcome }) => at > freedAt && outcome === 'ok')?.at;
  await expect.poll(back, { timeout: 30_000 }).toBeDefined();
  await stop();
  const counts = Object.groupBy(outcomes, ({ outcome }) => outcome);
  console.log(
    Object.entries(counts).map(([outcome, all]) => `${all?.length} × ${outcome}`),
    {
      ...{
        slowestMs: Math.round(Math.max(...outcomes.map(({ tookMs }) => tookMs))),
        backAfterMs: Math.round((back() ?? 0) - freedAt),
        acknowledged: acknowledged.length,
      },
    },
  );
  expect(Object.keys(counts).sort()).toEqual(['503 storage_full', 'ok']);
  // On a busy machine a request takes that long with space too.
  const usualMs = Math.max(...outcomes.filter(({ at }) => at < fullFrom).map(({ tookMs }) => tookMs));
  expect((back() ?? Number.POSITIVE_INFINITY) - freedAt).toBeLessThan(5_000 + usualMs);
  for (const id of acknowledged) {
    const { status } = await get(system, `/ticket/${id}`);
    expect([id, status]).toEqual([id, id === deleted ? 404 : 200]);
  }
});

test('a start on a full disk says so in one sentence, and works when there is space again', async (context) => {
  if (!isMounted) context.skip('needs the right to mount a tmpfs');
  const data = join(disk, 'data');
  system = await startedSystem(data);
  const reserve = join(data, 'mongodb', 'reserve-for-a-full-disk');
  await expect.poll(() => statSync(reserve, { throwIfNoEntry: false })?.size).toBe(128 * mib);
  await system.stop();
  rmSync(reserve);
  fillUp();
  expect(freeMib()).toBe(0);
  await expect(startedSystem(data)).rejects.toThrow(
    `The disk of ${join(data, 'mongodb')} is full (0 MiB are free): free some space, or enlarge it, and start again.`,
  );
  rmSync(filler());
  system = await startedSystem(data);
});
