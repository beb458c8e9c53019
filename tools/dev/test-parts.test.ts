import { expect, test } from 'vitest';
import { findMisplaced } from './test-parts.ts';

const parts = {
  test: [
    { name: 'unit', include: ['packages/!(store)/src/**/*.test.ts'], exclude: ['**/*.{timed,deploy}.test.ts'] },
    { name: 'integration', include: ['packages/*/src/**/*.int.test.ts'] },
  ],
  timed: [{ name: 'timed', include: ['**/*.timed.test.ts', 'packages/a/src/a.test.ts'] }],
  containers: [{ name: 'containers', include: ['packages/store/src/{b,c}.int.test.ts'] }],
};
const placed = ['packages/a/src/a.test.ts', 'packages/a/src/a.timed.test.ts', 'packages/store/src/b.int.test.ts'];
const files = [...placed, 'packages/store/src/c.int.test.ts'];

test('every test file is in one project of npm test, or in one part', () => {
  expect(findMisplaced(files, parts)).toEqual([]);
  expect(findMisplaced([...files, 'packages/a/src/d.int.test.ts'], parts)).toEqual([
    'packages/a/src/d.int.test.ts is in unit and in integration.',
  ]);
  expect(findMisplaced([...files, 'tools/x.deploy.test.ts', 'packages/store/src/e.test.ts'], parts)).toEqual([
    'tools/x.deploy.test.ts is in no part.',
    'packages/store/src/e.test.ts is in no part.',
  ]);
});

test('every pattern, and each alternative of it, is of a test file', () => {
  expect(findMisplaced(placed, parts)).toEqual(['packages/store/src/c.int.test.ts is no test file.']);
});
