import { expect, test } from 'vitest';
import { findMachineChecks } from './machine-checks.ts';

// The first lines are in pieces, so that this file itself is not refused.
const refused = [
  ['await find', 'Least(unit, 50, () => read(text));'].join(''),
  ['expect(process.memory', 'Usage().rss).toBeLessThan(1e9);'].join(''),
  ['const startedAt = performance', '.now();'].join(''),
  ['expect(Date.now() ', '- startedAt).toBeLessThan(5_000);'].join(''),
  ['  await set', 'Timeout(100);'].join(''),
  ['  await new Promise((resolve) => set', 'Timeout(resolve, 100));'].join(''),
  ['await vi.waitFor(isDone, { time', 'out: 10_000 });'].join(''),
  ['}, 20_', '000);'].join(''),
  ["test('sometimes', { ret", 'ry: 3 }, run);'].join(''),
  ['const port = 10_000 + Math.random', '() * 1000;'].join(''),
];

test.each(refused)('a test of npm test may not contain: %s', (line) => {
  expect(findMachineChecks('a.test.ts', `\n${line}`)).toEqual([expect.stringMatching(/^a\.test\.ts:2: ".+" .+\.$/)]);
});

test('conditions, stubs that answer late, limits of what is tested, and comments are allowed', () => {
  const text = `
    await expect.poll(() => count).toBe(2);
    await vi.waitFor(isDone, { timeout: 30_000 });
    setTimeout(() => response.end('{}'), held);
    const client = open({ timeoutMs: 300, timeout });
    // It would take performance.now() - 1.
  }, 300_000);`;
  expect(findMachineChecks('a.test.ts', text)).toEqual([]);
});
