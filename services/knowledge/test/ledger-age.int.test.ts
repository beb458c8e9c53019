import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { OperationRequest } from '@ticketing/service-kit/operations/operation-request.ts';
import { startServiceHarness } from '@ticketing/testkit/service-harness.ts';
import { expect, onTestFinished, test } from 'vitest';
import { service } from '../src/service.ts';

/** A service whose operations can be carried out, and the age of its ledger in the metrics. */
async function startWithAge() {
  const harness = await startServiceHarness(service);
  onTestFinished(() => harness.stop());
  const operate = (request: OperationRequest) => service.operate(request, () => undefined, harness.environment);
  const age = async () => {
    const text = await (await fetch(`http://127.0.0.1:${harness.running.ports.internal}/metrics`)).text();
    return /^backup_age_seconds\{kind="ledger",.*\} (\S+)$/m.exec(text)?.[1];
  };
  return { operate, age };
}

test('the metrics say how old the ledger of deletions is, once it was extended', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'ticketing-ledger-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const { operate, age } = await startWithAge();
  expect(await age()).toBeUndefined();
  await operate({ name: 'ledger', file: join(folder, 'ledger.jsonl') });
  expect(Number(await age())).toBeLessThan(3_600);
});

test('the deletions since a time count as an extension of the ledger, all deletions do not', async () => {
  const { operate, age } = await startWithAge();
  await operate({ name: 'deletions' });
  expect(await age()).toBeUndefined();
  await operate({ name: 'deletions', since: new Date(0) });
  expect(Number(await age())).toBeLessThan(3_600);
});
