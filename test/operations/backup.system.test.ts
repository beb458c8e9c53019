import { spawnSync } from 'node:child_process';
import { cpSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { deletionMethods } from '@ticketing/service-kit/deletions/deletion-methods.ts';
import { readLedger } from '@ticketing/service-kit/deletions/ledger-file.ts';
import { services } from '@ticketing/system/services.ts';
import { developmentKeys } from '@ticketing/testkit/development-keys.ts';
import { signToken } from '@ticketing/testkit/sign-token.ts';
import { afterAll, expect, test } from 'vitest';
import { type StartedSystem, startedSystem } from '../../tools/dev/started-system.ts';
import { createThings, deleteThings, remaining } from './deletable-things.ts';

const folder = mkdtempSync(join(tmpdir(), 'ticketing-backup-'));
const [dataDir, otherDataDir, snapshot, backup, ledger] = ['data', 'other', 'snapshot', 'backup', 'ledger.jsonl'].map(
  (name) => join(folder, name),
) as [string, string, string, string, string];

let system: StartedSystem | undefined;

afterAll(async () => {
  await system?.stop();
  rmSync(folder, { recursive: true, force: true });
});

type Json = Record<string, unknown>;

/** Sends requests as an admin. */
async function openAdmin({ url }: StartedSystem) {
  const caller = { sub: '7', kind: 'serviceWorker', roleId: 1 };
  const token = await signToken(developmentKeys(dataDir).issuerKeyFile, caller, 3_600);
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
  const send = async (method: string, path: string, content?: object): Promise<{ status: number; body: Json }> => {
    const body = content ? { body: JSON.stringify(content) } : {};
    const response = await fetch(`${url}${path}`, { method, headers, ...body });
    const isJson = response.headers.get('content-type')?.includes('json');
    return { status: response.status, body: isJson ? ((await response.json()) as Json) : {} };
  };
  return {
    send,
    async create(text: string): Promise<number> {
      const ticket = { channel: 'chat', subject: text, body: `<p>${text} in the body</p>`, from: 'kim' };
      const { status, body } = await send('POST', '/ticket', ticket);
      expect([status, body]).toEqual([200, expect.objectContaining({ id: expect.any(Number) })]);
      return Number(body.id);
    },
    async get(id: number) {
      const { status, body } = await send('GET', `/ticket/${id}`);
      // Its neighbours in the queue depend on other tickets.
      const { prevTicketId: _prev, nextTicketId: _next, ...ticket } = body;
      return { status, ticket };
    },
    messages: (id: number) => send('GET', `/ticket/${id}/conversation`),
    delete: async (id: number) => expect((await send('DELETE', `/ticket/${id}`)).status).toBe(200),
    async rows(): Promise<{ id: number }[]> {
      const response = await fetch(`${url}/export/reporting_tickets?format=json&limit=1000`, { headers });
      return (await response.json()) as { id: number }[];
    },
    ids: async () => {
      const { body } = await send('POST', '/ticket/search', { filters: [], limit: 100 });
      return (body.tickets as { id: number }[]).map(({ id }) => id).toSorted((left, right) => left - right);
    },
  };
}

/** Runs a command of the repository, with the embedded store. Returns its exit code and what it has printed. */
function runCommand(name: string, ...args: string[]): { code: number | null; output: string } {
  const env = { ...process.env, MONGODB_URI: '', KAFKA_BROKERS: '' };
  const path = join(import.meta.dirname, '..', '..', 'tools', 'cli', 'main.ts');
  const { status, stdout, stderr } = spawnSync(process.execPath, [path, name, ...args], { env, encoding: 'utf8' });
  return { code: status, output: stdout + stderr };
}

function script(name: string, ...args: string[]): string {
  const { code, output } = runCommand(name, ...args);
  expect([name, args[0], code, output]).toEqual([name, args[0], 0, output]);
  return output;
}

// guarantee: F38
test('a restored backup has everything, brings back nothing that was deleted, and hands out no id again', {
  timeout: 500_000,
}, async () => {
  system = await startedSystem(dataDir);
  let admin = await openAdmin(system);
  const kept = [await admin.create('kept one'), await admin.create('kept two')];
  const deletedBefore = await admin.create('deleted before');
  const deletedAfter = [await admin.create('deleted after'), await admin.create('deleted later')];
  await admin.delete(deletedBefore);
  const things = await createThings(admin.send);
  script('backup', 'ledger', '--file', ledger, '--data', dataDir);
  script('events', 'drain', '--data', dataDir);
  const whatWas = await Promise.all(kept.map(async (id) => [await admin.get(id), await admin.messages(id)]));
  await system.stop();
  expect(script('backup', 'create', '--to', backup, '--data', dataDir)).toMatch(/^\d\d+ documents are copied/);
  // The copy stands for a snapshot of the volumes.
  cpSync(dataDir, snapshot, { recursive: true });

  system = await startedSystem(dataDir);
  admin = await openAdmin(system);
  const lost = [await admin.create('lost one'), await admin.create('lost two')];
  for (const id of deletedAfter) await admin.delete(id);
  await deleteThings(admin.send, things);
  expect(await remaining(admin.send, things)).toEqual([]);
  await expect
    .poll(async () => (await admin.send('GET', '/event?limit=500')).body)
    .toMatchObject({
      events: expect.arrayContaining([expect.objectContaining({ ticketId: lost[1] })]),
    });
  const { body: feed } = await admin.send('GET', '/event?limit=500');
  expect(script('backup', 'ledger', '--file', ledger, '--data', dataDir)).toContain(
    // Two tickets, two tags, a file and a draft.
    'tickets: 6 deletions were added to the ledger\n',
  );
  const known = readLedger(ledger);
  const deletions = services.flatMap((entry) => deletionMethods(entry).map(({ name }) => [entry.name, name] as const));
  expect(deletions.filter(([service, method]) => !known(service).deleted.has(method))).toEqual([]);
  await system.stop();

  cpSync(join(dataDir, 'keys'), join(otherDataDir, 'keys'), { recursive: true });
  for (const [from, data] of [
    [['--from', backup], otherDataDir],
    [['--in-place'], snapshot],
  ] as const) {
    const restored = script('restore', ...from, '--ledger', ledger, '--data', data);
    expect(restored).toContain('tickets: 6 deletions were made again');
    expect(restored).not.toContain('could not');

    system = await startedSystem(data);
    admin = await openAdmin(system);
    expect(await remaining(admin.send, things)).toEqual([]);
    expect(await Promise.all(kept.map(async (id) => [await admin.get(id), await admin.messages(id)]))).toEqual(whatWas);
    expect(await admin.ids()).toEqual([...kept, things.ticket]);
    for (const id of [deletedBefore, ...deletedAfter, ...lost]) expect((await admin.get(id)).status).toBe(404);
    const next = await admin.create('the next one');
    expect(next).toBeGreaterThan(Math.max(...lost));
    expect(await admin.send('GET', `/event?after=${String(feed.next)}`)).toMatchObject({
      status: 410,
      body: { code: 'cursor_expired' },
    });
    script('events', 'drain', '--data', data);
    script('events', 'reconcile', 'reporting', '--data', data);
    expect((await admin.rows()).map(({ id }) => id).toSorted((left, right) => left - right)).toEqual([
      ...[...kept, things.ticket, next],
    ]);
    // Nothing is new in the ledger, although the audit log says again that it was deleted.
    expect(script('backup', 'ledger', '--file', ledger, '--data', data)).toContain('tickets: 0 deletions');
    await system.stop();
  }
});

test('what one system has deleted is not deleted in another one', { timeout: 100_000 }, async () => {
  const data = join(folder, 'another system');
  const another = await startedSystem(data);
  const extended = runCommand('backup', 'ledger', '--file', ledger, '--data', data);
  await another.stop();
  expect([extended.code, extended.output]).toEqual([1, expect.stringContaining('is the ledger of another system')]);
  const applied = runCommand('restore', '--in-place', '--ledger', ledger, '--data', data);
  expect([applied.code, applied.output]).toEqual([1, expect.stringContaining('The ledger is that of another system')]);
});

// guarantee: F38
test('a restore refuses a store with data, and a backup that is not whole', async () => {
  const full = runCommand('restore', '--from', backup, '--ledger', ledger, '--data', otherDataDir);
  expect([full.code, full.output]).toEqual([1, expect.stringContaining('is not empty')]);
  writeFileSync(join(backup, 'tickets', 'tickets.bson.gz'), 'not what was written');
  const damaged = runCommand('restore', '--from', backup, '--without-ledger', '--data', join(folder, 'third'));
  expect(damaged.code).toBe(1);
  const none = runCommand('restore', '--from', folder, '--without-ledger', '--data', join(folder, 'third'));
  expect([none.code, none.output]).toEqual([1, expect.stringContaining('is no complete backup')]);
});
