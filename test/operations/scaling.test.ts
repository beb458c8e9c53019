import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import * as topics from '@ticketing/contracts/topics.ts';
import { describe, expect, it } from 'vitest';
import { recordIndexes } from './recorded-indexes.ts';
import { shardingProblems, shardKeysIn, tableRows } from './shard-keys.ts';

const root = join(import.meta.dirname, '..', '..');
const document = readFileSync(join(root, 'docs/operations/scaling.md'), 'utf8');
const day = 24 * 3_600_000;

describe('the shard keys of the documentation', () => {
  it('are those of all collections with indexes, and nothing is unique but `_id` and keys that start with them', async () => {
    const indexes = await recordIndexes();
    expect(indexes.filter(({ isUnique }) => isUnique).length).toBeGreaterThan(8);
    expect(shardingProblems(shardKeysIn(document), indexes)).toEqual([]);
  });

  it('are compared: a missing collection, an unknown one and a unique index that does not fit are found', () => {
    const indexes = [
      { service: 'tickets', collection: 'tickets', fields: ['externalTicketId'], isUnique: true },
      { service: 'tickets', collection: 'chunks', fields: ['file', 'n'], isUnique: true },
      { service: 'tickets', collection: 'orders', fields: ['_id', 'at'], isUnique: false },
    ];
    const table = [
      { service: 'tickets', collection: 'tickets', key: ['_id'] },
      { service: 'every', collection: 'chunks', key: ['file'] },
      { service: 'tickets', collection: 'bills', key: undefined },
    ];
    expect(shardingProblems(table, indexes)).toEqual([
      'tickets.orders has no shard key',
      'tickets.bills has no index, or does not exist',
      'tickets.tickets cannot keep (externalTicketId) unique over its shards',
    ]);
  });
});

describe('the system', () => {
  it('uses no transaction, no session and no change stream', () => {
    const sources = globSync('{packages,services}/*/src/**/*.ts', {
      cwd: root,
      exclude: (name) => name.endsWith('.test.ts'),
    });
    expect(sources.length).toBeGreaterThan(500);
    const uses = sources.filter((file) =>
      /\b(startSession|withSession|withTransaction|startTransaction)\(|\.watch\(\[/.test(
        readFileSync(join(root, file), 'utf8'),
      ),
    );
    expect(uses).toEqual([]);
  });

  it('has the topics and partitions of the documentation', () => {
    const declared = Object.values(topics).map(({ name, partitions, retentionMs }) => [
      `\`${name}\``,
      String(partitions),
      `${retentionMs / day} days`,
    ]);
    expect(tableRows(document, 'partitions').map((row) => row.slice(0, 3))).toEqual(declared);
  });
});
