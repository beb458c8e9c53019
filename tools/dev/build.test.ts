import { globSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { openJsonThread } from '@ticketing/rest/json-thread.ts';
import { openSandbox } from '@ticketing/sandbox/sandbox.ts';
import { afterAll, expect, test } from 'vitest';
import { build, programIn } from './build.ts';

const folder = mkdtempSync(join(tmpdir(), 'build-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

test('makes the program of a service, and beside it those of its workers', async () => {
  await build(folder);
  const [worker = ''] = globSync(join(folder, 'tickets', 'body.worker-*.mjs'));
  expect(globSync(programIn(folder, 'tickets'))).toHaveLength(1);
  const sandbox = openSandbox<{ wordsOf(texts: string[]): string[] }>(pathToFileURL(worker), {
    ...{ timeoutMs: 10_000, maxHeapMb: 64, maxOutputBytes: 1000, maxWorkers: 1, longRunBytes: 1000 },
    ...{ maxQueued: 1, maxQueuedBytes: 1000, maxQueuedPerCaller: 1, maxQueuedBytesPerCaller: 1000, idleMs: 1000 },
  });
  expect(await sandbox.run('someone', 'wordsOf', ['Größe 4711'])).toEqual(['grosse', '4711']);
  await sandbox.close();
  const [module = ''] = globSync(join(folder, 'tickets', 'json.worker-*.mjs'));
  const limits = { maxQueuedBytes: 1000, maxQueuedBytesPerCaller: 1000 };
  const thread = openJsonThread({ ...limits, module: pathToFileURL(module) });
  expect(await thread.parse('someone', Buffer.from('{"a":[1]}'))).toEqual({ json: { a: [1] }, violations: [] });
  await thread.close();
});
