import { expect, test } from 'vitest';
import { type FileOutcome, findRepeated, judge, judgeOnce, type RunOutcome } from './outcome.ts';

type State = FileOutcome['state'];
const run = (...files: FileOutcome[]): RunOutcome => ({ files, strayErrors: [] });
const file = (path: string, state: State, ...states: ('passed' | 'failed' | 'skipped')[]): FileOutcome => ({
  path,
  state,
  tests: states.map((one, index) => ({
    name: `test ${index}`,
    state: one,
    isLeftOut: false,
    ...(one === 'failed' && { message: 'expected 1 to be 2' }),
  })),
});
const good = file('good', 'passed', 'passed', 'passed');
const broken = file('broken', 'failed', 'failed', 'passed');

test('a run without a failure is green, and nothing runs again', () => {
  const skipped = file('skipped', 'skipped', 'skipped');
  expect(findRepeated(run(good, skipped))).toEqual([]);
  expect(judge(run(good, skipped))).toEqual({ passed: 2, failed: 0, unstable: [], problems: [] });
});

test('a run in which no test has passed is red', () => {
  expect(judge(run()).problems).toEqual(['No test has passed.']);
  expect(judge(run(file('skipped', 'skipped', 'skipped'))).problems).toEqual(['No test has passed.']);
});

test('a file that fails runs again: what passes then is unstable, what fails again is red', () => {
  const first = run(good, broken);
  expect(findRepeated(first)).toEqual(['broken']);
  expect(judge(first, run(file('broken', 'passed', 'passed', 'passed')))).toEqual({
    passed: 4,
    failed: 0,
    unstable: ['broken > test 0: expected 1 to be 2'],
    problems: [],
  });
  expect(judge(first, run(broken))).toEqual({ passed: 3, failed: 1, unstable: [], problems: [] });
});

test('a file that fails without a failed test is a failure too', () => {
  const first = run(good, { ...file('broken', 'failed'), message: 'no such module' });
  expect(judge(first, first)).toMatchObject({ failed: 1 });
  expect(judge(first, run(file('broken', 'passed', 'passed')))).toMatchObject({
    failed: 0,
    unstable: ['broken: no such module'],
  });
});

test('a second run that lacks a test of the first, or leaves one, is red', () => {
  const first = run(good, broken);
  const lacking = [
    run(),
    run(file('broken', 'passed', 'passed')),
    run(file('broken', 'passed', 'passed', 'skipped')),
    run(file('broken', 'skipped')),
    run(file('broken', 'pending', 'passed', 'passed')),
  ];
  for (const second of lacking) expect(judge(first, second).problems).not.toEqual([]);
  const empty = run(good, { ...file('broken', 'failed'), message: 'no such module' });
  expect(judge(empty, run(file('broken', 'passed'))).problems).toEqual(['broken has no tests.']);
});

test('a test that its file leaves out need not run', () => {
  const leftOut = { name: 'left out', state: 'skipped', isLeftOut: true } as const;
  const withOne = (one: FileOutcome) => ({ ...one, tests: [...one.tests, leftOut] });
  const second = run(withOne(file('broken', 'passed', 'passed', 'passed')));
  expect(judge(run(good, withOne(broken)), second).problems).toEqual([]);
});

test('nothing runs again with more than five failed files, an error outside of a test, or a file that did not end', () => {
  const six = run(good, ...Array.from({ length: 6 }, (_, index) => ({ ...broken, path: `broken ${index}` })));
  expect(findRepeated(six)).toEqual([]);
  expect(judge(six)).toMatchObject({ failed: 6, unstable: [] });
  const stray: RunOutcome = { ...run(good, broken), strayErrors: ['a worker has ended'] };
  expect(findRepeated(stray)).toEqual([]);
  expect(judge(stray).problems).toEqual(['An error outside of a test: a worker has ended']);
  const unfinished = run(good, file('lost', 'queued'));
  expect(judge(unfinished).problems).toEqual(['lost did not run to its end.']);
});

test('a run that is judged once counts skipped tests, and names the files of which no test has run', () => {
  const reason = { name: 'last', state: 'skipped', isLeftOut: false, message: 'curl is not installed' } as const;
  const none = file('none', 'skipped', 'skipped', 'skipped');
  const lacking = file('lacking', 'passed', 'skipped');
  lacking.tests.push(reason);
  expect(judgeOnce(run(file('some', 'passed', 'passed', 'skipped'), none, lacking))).toEqual({
    passed: 1,
    failed: 0,
    skipped: 5,
    problems: [],
    skippedFiles: ['none', 'lacking: curl is not installed'],
  });
});
