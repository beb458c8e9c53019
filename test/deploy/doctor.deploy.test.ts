import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { services } from '@ticketing/system/services.ts';
import mongoose from 'mongoose';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type System, startSystem } from '../e2e/harness.ts';

let system: System;

beforeAll(async () => {
  system = await startSystem();
});
afterAll(() => system?.stop());

/** Runs the program on all processes of the system, or on these addresses. Returns its exit code, and what it found. */
async function doctor(urls?: string[]): Promise<{ code: number; text: string; found: string[] }> {
  const internal = services.map(({ name }) => `http://127.0.0.1:${system.findPorts(name).internal}`);
  const program = join(import.meta.dirname, '..', '..', 'tools', 'cli', 'main.ts');
  return new Promise((resolve) => {
    execFile(process.execPath, [program, 'doctor', ...(urls ?? ['--all', ...internal])], (error, stdout, stderr) => {
      const text = stdout + stderr;
      resolve({ code: error ? Number(error.code) : 0, text, found: text.match(/(?<=^\d+\. ).+$/gm) ?? [] });
    });
  });
}

async function change(service: string, work: (database: mongoose.mongo.Db) => Promise<unknown>): Promise<void> {
  const dbName = `${system.name}_${service}`;
  const connection = await mongoose.createConnection(system.mongodbUri, { dbName }).asPromise();
  await work(connection.getClient().db(dbName));
  await connection.close();
}

test('finds nothing wrong with a healthy system, and exits with 0', async () => {
  await expect.poll(async () => (await doctor()).found, { timeout: 30_000 }).toEqual([]);
  const { code, text } = await doctor();
  expect([code, text]).toEqual([0, expect.stringContaining('7 of 7 processes respond')]);
  expect(text).toContain('nothing is wrong');
});

test('explains that the address of the gateway is for clients', async () => {
  for (const url of [system.url, `http://127.0.0.1:${system.findPorts('tickets').http}`]) {
    const { code, text, found } = await doctor([url]);
    expect([code, found]).toEqual([1, []]);
    expect(text).toContain(`${url} is an address for clients`);
  }
});

// guarantee: S4
test('finds a blocked key, events that wait, and a service that has stopped, and exits with 1', async () => {
  const hourAgo = new Date(Date.now() - 3_600_000);
  const nextHour = new Date(Date.now() + 3_600_000);
  await change('reporting', (database) =>
    database
      .collection('deadLetters')
      .insertOne({ group: 'reporting', topic: 'ticketing.ticket.changed.v1', key: '1', offset: 1 }),
  );
  await change('tickets', (database) =>
    database.collection<{ _id: number }>('tickets').insertOne({
      ...{ _id: 999_999, version: 1, outbox: [{ version: 1 }], outboxSince: hourAgo },
      unsent: { reason: 'too large', since: hourAgo, retryAt: nextHour, attempts: 3 },
    } as { _id: number }),
  );
  await system.stopService('knowledge');
  const { code, text, found } = await doctor();
  expect(code).toBe(1);
  expect(found).toEqual(
    expect.arrayContaining([
      expect.stringMatching(/^http:\S+ does not respond: .*ECONNREFUSED/),
      'there is no process of knowledge',
      'reporting handles no event of 1 tickets or tags',
      'the bus refuses the events of 1 documents of tickets',
      expect.stringMatching(/^an event of tickets has been waiting to be sent for 60 minutes$/),
    ]),
  );
  expect(text).toContain('What to do: docs/operations/runbooks/keys-blocked.md');
  expect(text).toContain('so that their order stays');
});
