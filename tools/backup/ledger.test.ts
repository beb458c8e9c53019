import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { services } from '@ticketing/system/services.ts';
import { afterAll, expect, test } from 'vitest';
import { extendLedgerBy } from './ledger.ts';
import { restoreBy } from './restore.ts';

const folder = mkdtempSync(join(tmpdir(), 'ticketing-exec-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
const names = services.flatMap(({ name, hasStore }) => (hasStore ? [name] : []));
const lines: string[] = [];
const print = (line: string) => void lines.push(line);

/** A program that stands for those of all services: it prints its arguments and its input as deletions. */
function program(code: string): string {
  const file = join(folder, 'program.sh');
  writeFileSync(file, code);
  return `sh ${file} {service}`;
}

test('a ledger is extended by the command of each service, and one that fails leaves the others as they are', async () => {
  const file = join(folder, 'ledger.jsonl');
  const command = program(`[ "$1" = settings ] && { echo broken >&2; exit 3; }
echo a line of podman
echo '{"service":"'$1'","until":"2026-11-22T21:00:00.000Z","deleted":{"'$2'":["'$3'"]}}'`);
  await expect(extendLedgerBy(command, file, print)).rejects.toThrow('lacks what 1 services have deleted');
  expect(lines).toContain('settings: the command has printed no deletions: broken');
  expect(lines).toContain('tickets: 1 deletions were added to the ledger');
  const written = readFileSync(file, 'utf8').trimEnd().split('\n');
  expect(written.map((line) => JSON.parse(line))).toEqual(
    names
      .filter((name) => name !== 'settings')
      .map((service) => ({
        service,
        until: '2026-11-22T21:00:00.000Z',
        deleted: { deletions: ['1970-01-01T00:00:00.000Z'] },
      })),
  );
  await expect(extendLedgerBy('sh program', file, print)).rejects.toThrow('has no {service}');
  await expect(extendLedgerBy(program('echo {service}'), file, print)).rejects.toThrow('lacks what 6 services');
});

test('a ledger is applied by the command of each service, which gets it as its input', async () => {
  lines.length = 0;
  const ledger = join(folder, 'applied.jsonl');
  writeFileSync(ledger, 'the ledger\n');
  const command = program('echo "$* $(cat)"; [ "$1" != intents ]');
  expect(await restoreBy(command, { ledger, idMargin: 7 }, print)).toBe(1);
  expect(lines).toEqual(names.map((name) => `${name} apply-ledger - 7 the ledger`));
  lines.length = 0;
  await restoreBy(command, { ledger: undefined, idMargin: 7 }, print);
  expect(lines).toEqual(names.map((name) => `${name} apply-ledger without-ledger 7`));
});
