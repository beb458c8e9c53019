import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { expect, test } from 'vitest';

test('a program that loads it first has a clock that is 10 s fast, and dates as before', () => {
  const program =
    'console.log(Date.now(), +new Date(), new Date(5).getTime(), Date.UTC(1970), new Date() instanceof Date, new Date().constructor === Date)';
  const before = Date.now();
  const printed = execFileSync(
    process.execPath,
    ['--import', join(import.meta.dirname, 'fast-clock.ts'), '--eval', program],
    { encoding: 'utf8' },
  );
  const after = Date.now();
  const [now, made, ...others] = printed.trim().split(' ');
  for (const time of [now, made].map(Number)) {
    expect(time).toBeGreaterThanOrEqual(before + 10_000);
    expect(time).toBeLessThanOrEqual(after + 10_000);
  }
  expect(others).toEqual(['5', '0', 'true', 'true']);
});
