import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { afterAll, expect, test } from 'vitest';
import { restoreBackup } from './restore.ts';

const folder = mkdtempSync(join(tmpdir(), 'ticketing-restore-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** A document of BSON with one text. */
function bson(name: string, text: string): Buffer {
  const length = Buffer.alloc(4);
  length.writeInt32LE(text.length + 1);
  const element = Buffer.concat([Buffer.from(`\x02${name}\0`), length, Buffer.from(`${text}\0`)]);
  const size = Buffer.alloc(4);
  size.writeInt32LE(element.length + 5);
  return Buffer.concat([size, element, Buffer.from([0])]);
}

test('the ledger of another system is refused before anything is copied', async () => {
  mkdirSync(join(folder, 'tickets'));
  writeFileSync(join(folder, 'tickets', 'storeFormat.bson.gz'), gzipSync(bson('storeId', 'one')));
  const manifest = { format: 1, takenAt: '2026-11-22T21:00:00.000Z', databases: { tickets: [] } };
  writeFileSync(join(folder, 'manifest.json'), JSON.stringify(manifest));
  const ledger = join(folder, 'ledger.jsonl');
  const restore = async (store: string) => {
    writeFileSync(ledger, `${JSON.stringify({ service: 'tickets', until: '2026-11-22T21:00:00.000Z', store })}\n`);
    // Without variables no store can be opened.
    await restoreBackup({}, { folder, ledger, idMargin: 0 }, () => undefined);
  };
  await expect(restore('two')).rejects.toThrow('The ledger is that of another system');
  await expect(restore('one')).rejects.toThrow('MONGODB_URI is required');
});
