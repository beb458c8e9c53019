import { services } from '@ticketing/system/services.ts';
import { expect, test } from 'vitest';
import { isAudited } from '../config/service-config.ts';
import { exportAudit, verifyAudit } from './audit-operations.ts';
import { appendToAuditLog } from './start-background.ts';

test('a service without an audit log, which may have no database, has nothing to export and nothing wrong', async () => {
  const kit = {
    get audit(): never {
      throw new Error('there is no database');
    },
  };
  const without = services.filter((entry) => !isAudited(entry));
  expect(without.map(({ name }) => name)).toEqual(expect.arrayContaining(['gateway', 'reporting']));
  const lines: string[] = [];
  for (const entry of without) {
    expect(await exportAudit(entry, kit, undefined, (line) => lines.push(line))).toBe(0);
    expect(await verifyAudit(entry, kit, undefined, (line) => lines.push(line))).toBe(0);
  }
  expect(lines).toEqual([]);
});

test('the log names each new last entry once, whoever has appended it', async () => {
  const ends = [undefined, { number: 2, hash: 'b' }, { number: 2, hash: 'b' }, { number: 3, hash: 'c' }];
  const seal = async () => ends.shift();
  const logged: unknown[] = [];
  const run = appendToAuditLog({ seal }, { info: (point: unknown) => void logged.push(point) });
  for (const _run of [...ends]) await run();
  expect(logged).toEqual([
    { number: 2, hash: 'b' },
    { number: 3, hash: 'c' },
  ]);
});
