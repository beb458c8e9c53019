import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startServiceHarness } from '@ticketing/testkit/service-harness.ts';
import { expect, onTestFinished, test } from 'vitest';
import { service } from '../src/service.ts';

test('the metrics say how old the ledger of deletions is, once it was extended', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'ticketing-ledger-'));
  const harness = await startServiceHarness(service);
  onTestFinished(async () => {
    await harness.stop();
    rmSync(folder, { recursive: true });
  });
  const age = async () => {
    const text = await (await fetch(`http://127.0.0.1:${harness.running.ports.internal}/metrics`)).text();
    return /^backup_age_seconds\{kind="ledger",.*\} (\S+)$/m.exec(text)?.[1];
  };
  expect(await age()).toBeUndefined();
  await service.operate({ name: 'ledger', file: join(folder, 'ledger.jsonl') }, () => undefined, harness.environment);
  expect(Number(await age())).toBeLessThan(30);
});
