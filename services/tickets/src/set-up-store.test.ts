import mongoose, { type Connection } from 'mongoose';
import { expect, test } from 'vitest';
import { setUpStore } from './set-up-store.ts';

/** A connection that builds no indexes for some collections, and records how many builds run at once. */
function openFailing(failing: readonly string[]) {
  const connection = mongoose.createConnection();
  const record = { running: 0, most: 0 };
  connection.collection = ((name: string) => {
    const build = async () => {
      record.most = Math.max(record.most, ++record.running);
      await Promise.resolve();
      record.running -= 1;
      if (failing.includes(name)) throw new Error(`no space for ${name}`);
    };
    return { name, createIndex: build, createIndexes: build };
  }) as never;
  return { connection: connection as Connection, record };
}

test.each([true, false])('names every collection whose indexes cannot be built (new database: %s)', async (isNew) => {
  const { connection, record } = openFailing(['tickets', 'bulks']);
  await expect(setUpStore(connection, isNew)).rejects.toThrow(/tickets \(no space for .*\), bulks \(no space for /);
  expect(record.running).toBe(0);
  // Requests are served from a database that is not new.
  expect(record.most > 1).toBe(isNew);
});
