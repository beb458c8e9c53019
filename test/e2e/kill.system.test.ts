import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { checkedFetch } from '@ticketing/testkit/checked-fetch.ts';
import { developmentKeys } from '@ticketing/testkit/development-keys.ts';
import { freePort } from '@ticketing/testkit/free-port.ts';
import { signToken } from '@ticketing/testkit/sign-token.ts';
import { afterAll, expect, test } from 'vitest';

const data = mkdtempSync(join(tmpdir(), 'ticketing-kill-'));
const running = new Set<ChildProcess>();

afterAll(() => {
  for (const child of running) child.kill('SIGKILL');
  rmSync(data, { recursive: true, force: true });
});

/** Starts the whole system as a user does, and waits for its last line. */
async function start(port: number): Promise<ChildProcess> {
  const child = spawn(process.execPath, ['tools/cli/main.ts', 'start', '--port', String(port), '--data', data], {
    stdio: ['ignore', 'pipe', 'inherit'],
    env: { ...process.env, MONGODB_URI: '' },
  });
  running.add(child);
  child.once('exit', () => running.delete(child));
  let output = '';
  await new Promise<void>((resolve, reject) => {
    child.stdout?.on('data', (chunk) => {
      output += chunk;
      if (output.includes('\nready ')) resolve();
    });
    child.once('exit', () => reject(new Error(`the system ended:\n${output}`)));
  });
  return child;
}

/** A reader of the feed that survives the system, and continues with the cursor that it had. */
function feedReader(url: string, headers: Record<string, string>) {
  const seen: string[] = [];
  let cursor = '';
  /** Reads a page. Returns whether there were events; undefined if the system does not respond. */
  const readPage = async (): Promise<boolean | undefined> => {
    const response = await fetch(`${url}/event?limit=20${cursor && `&after=${cursor}`}`, { headers }).catch(
      () => undefined,
    );
    if (response?.status === 503) return undefined;
    const page = await response?.json().catch(() => undefined);
    if (!response || page === undefined) return undefined;
    expect([response.status, page]).toEqual([200, expect.objectContaining({ next: expect.any(String) })]);
    const { events, next } = page as { events: { ticketId: number; version: number }[]; next: string };
    seen.push(...events.map(({ ticketId, version }) => `${ticketId}/${version}`));
    cursor = next;
    return events.length > 0;
  };
  return { seen, readPage };
}

// guarantee: E9, E11
test('kill -9 of the whole system during writes loses no acknowledged ticket, and no event of the feed', async () => {
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  const claims = { sub: '900', kind: 'serviceWorker', roleId: 2, permissions: ['manageWebhooks'] };
  const token = await signToken(developmentKeys(data).issuerKeyFile, claims, 3600);
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
  const acknowledged: number[] = [];
  const reader = feedReader(url, headers);
  for (let round = 0; round < 3; round++) {
    const child = await start(port);
    const before = acknowledged.length;
    let isKilled = false;
    const writers = Array.from({ length: 8 }, async () => {
      while (!isKilled) {
        try {
          const response = await fetch(`${url}/ticket`, { method: 'POST', headers, body: '{"channel":"chat"}' });
          const { id } = (await response.json()) as { id: number };
          if (response.ok) acknowledged.push(id);
        } catch {
          // The connection broke during the request, so nothing was acknowledged.
        }
      }
    });
    const reading = (async () => {
      while (!isKilled) await reader.readPage();
    })();
    await expect
      .poll(() => acknowledged.length - before, { timeout: 120_000, interval: 5 })
      .toBeGreaterThan(60 + round * 37);
    child.kill('SIGKILL');
    isKilled = true;
    await Promise.all([...writers, reading]);
  }
  const child = await start(port);
  expect(new Set(acknowledged).size).toBe(acknowledged.length);
  const checked = checkedFetch(`${url}/openapi.json`);
  const lost: number[] = [];
  for (const id of acknowledged) {
    const response = await checked(`${url}/ticket/${id}`, { headers });
    if (response.status !== 200) lost.push(id);
    await response.arrayBuffer();
  }
  expect(lost).toEqual([]);
  const created = acknowledged.map((id) => `${id}/1`);
  await expect
    .poll(async () => ((await reader.readPage()) ? 1 : created.filter((name) => !reader.seen.includes(name)).length), {
      timeout: 60_000,
      interval: 5,
    })
    .toBe(0);
  let fromTheBeginning = feedReader(url, headers);
  const missed = async () => {
    while (await reader.readPage());
    fromTheBeginning = feedReader(url, headers);
    while (await fromTheBeginning.readPage());
    return fromTheBeginning.seen.filter((name) => !reader.seen.includes(name));
  };
  // Tickets change after their creation too, when they are analysed.
  await expect.poll(missed, { timeout: 60_000 }).toEqual([]);
  expect(new Set(reader.seen)).toEqual(new Set(fromTheBeginning.seen));
  expect(fromTheBeginning.seen).toHaveLength(new Set(fromTheBeginning.seen).size);
  child.kill('SIGTERM');
  await new Promise((resolve) => child.once('exit', resolve));
});
