import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { findHelpers, findIdleLimits, findMachineChecks } from './machine-checks.ts';

// A "~" is left out, so that this file itself is not refused.
const refused = [
  'await find~Least(unit, 50, () => read(text));',
  'expect(process.memory~Usage().rss).toBeLessThan(1e9);',
  'const { maxRSS } = process.resource~Usage();',
  'const heap = v8.getHeap~Statistics();',
  'new Performance~Observer(note).observe(options);',
  'const startedAt = performance~.now();',
  "performance~.mark('begin');",
  'expect(Date.~now() - startedAt).toBeLessThan(5_000);',
  'const tookMs = Date.now() ~- startedAt;',
  'expect(Date.~now()).toBeGreaterThan(end);',
  'expect(\n  Math.abs(createdAt - Date.~now()),\n).toBeLessThan(60_000);',
  '  await set~Timeout(100);',
  '  await new Promise((resolve) => set~Timeout(resolve, 100));',
  'const pause = new Promise<void>((resolve) => set~Timeout(resolve, 100));',
  'await new Promise((done) => {\n  set~Timeout(() => done(), 100);\n});',
  '{ set~Timeout(r, 100); }',
  'set~Timeout(\n  resolve,\n  100,\n);',
  "import { setTimeout as wait } from 'node:timers~/promises';",
  "import { scheduler } from 'node:timers~/promises';",
  "import timers from 'node:timers~/promises';",
  "await import('node:timers~/promises');",
  'const wait = promisify(set~Timeout);',
  'await expect.poll(isDone, { time~out: 10_000 }).toBe(true);',
  'await expect.poll(isDone, { interval: 20, time~out: 10000 }).toBe(true);',
  'await vi.wait~For(isDone);',
  'await vi.wait~Until(() => isDone(one(two(3))));',
  'await vi.wait~For(async () => expect(await read()).toBe(0), 20_000);',
  'await vi.wait~For(\n  () => {\n    expect(read()).toBe(1);\n  },\n  { interval: 10 },\n);',
  "test('late', { time~out: 60_000 }, async () => {});",
  "test('late',\n  { time~out: 60_000 },\n  async () => {});",
  '}, 20_~000);',
  '}, 10~000);',
  '  },\n  30_~000,\n);',
  "test('sometimes', { ret~ry: 3 }, run);",
  'const signal = AbortSignal.time~out(500);',
  'const port = 10_000 + Math.ran~dom() * 1000;',
  'const random = Math.ran~dom;',
];

test.each(refused)('a test of npm test may not contain: %s', (line) => {
  const found = findMachineChecks('a.test.ts', `\n${line.replace('~', '')}`);
  expect(found).toEqual([expect.stringMatching(/^a\.test\.ts:[23]: ".+" .+\.$/)]);
});

test('conditions, stubs that respond late, clocks, limits of what is tested, and comments are allowed', () => {
  const text = `
    import { setImmediate } from 'node:timers/promises';
    await expect.poll(() => count).toBe(2);
    await vi.waitFor(isDone, { timeout: 30_000 });
    await vi.waitFor(() => {
      expect(read(one(2))).toBe(1);
    }, { timeout: 60_000, interval: 20 });
    await vi.waitFor(
      async () => expect(await read()).toBeNull(),
      { timeout: 30_000 },
    );
    await vi.waitFor(isDone, common);
    setTimeout(() => response.end('{}'), held);
    const timers = { setTimeout(run, ms) { return start(run, ms); } };
    vi.spyOn(performance, 'now').mockReturnValue(5);
    vi.spyOn(Math, 'random').mockReturnValue(0.5);
    const now = Date.now();
    expect(expiresAt).toBe(now + 1_000);
    const client = open({ timeoutMs: 300, timeout });
    const header = toHeader({ id: 9 }, 100);
    const start = performance.timeOrigin;
    // It would take performance.now() - 1.
  }, 300_000);
  },
  300_000,
);`;
  expect(findMachineChecks('a.test.ts', text)).toEqual([]);
});

test('helpers of tests are found through those that import them, but no other files', () => {
  const folder = mkdtempSync(join(tmpdir(), 'helpers-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const files = {
    'packages/a/src/a.test.ts': "import { open } from '../test/open.ts'; import { a } from './a.ts';",
    'packages/a/src/a.ts': '',
    'packages/a/test/open.ts': "new URL('./probe.worker.ts'); import '@ticketing/testkit/turns.ts';",
    'packages/a/test/probe.worker.ts': "import '@ticketing/testkit/measure.ts';",
    'packages/a/test/unused.ts': '',
    'packages/testkit/src/turns.ts': '',
    'packages/testkit/src/measure.ts': '',
  };
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(join(folder, dirname(path)), { recursive: true });
    writeFileSync(join(folder, path), text);
  }
  expect(findHelpers(['packages/a/src/a.test.ts'], folder)).toEqual([
    'packages/a/test/open.ts',
    'packages/a/test/probe.worker.ts',
    'packages/testkit/src/turns.ts',
  ]);
});

test('limits in a file that the part "timed" does not run are refused', () => {
  const line = "import { withinTime } from '@ticketing/testkit/machine-limits.ts';";
  expect(findIdleLimits('a.system.test.ts', line)).toEqual([expect.stringContaining('measured nowhere')]);
  expect(findIdleLimits('a.system.test.ts', "import { seed } from '@ticketing/testkit/seed.ts';")).toEqual([]);
});
