import { statfs } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { testDatabase } from '@ticketing/testkit/test-database.ts';
import { expect, test } from 'vitest';
import { readDisk } from '../src/connection/free-space.ts';

const connection = await testDatabase();

test.skipIf(process.env.MONGODB_URI)(
  'the embedded engine says how large its disk is, and how much is free',
  async () => {
    const disk = await readDisk({ connection });
    const { blocks, bavail, bsize } = await statfs(tmpdir());
    expect(disk?.total).toBe(blocks * bsize);
    // Others write at the same time.
    expect(Math.abs((disk?.free ?? 0) - bavail * bsize)).toBeLessThan(disk ? disk.total / 20 : 0);
  },
);
