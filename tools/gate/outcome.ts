/** The findings of a run of Vitest. */
export interface RunOutcome {
  files: FileOutcome[];
  /** The messages of errors that no test and no file has: a promise that nobody awaits, a worker that has ended. */
  strayErrors: string[];
}

export interface FileOutcome {
  /** Relative to the repository. */
  path: string;
  /** `queued` and `pending`: the file was not run to its end. */
  state: 'passed' | 'failed' | 'skipped' | 'queued' | 'pending';
  /** The first message of an error of the file itself, or of a hook of its suites. */
  message?: string;
  tests: TestOutcome[];
}

export interface TestOutcome {
  /** With the names of its suites. */
  name: string;
  state: 'passed' | 'failed' | 'skipped' | 'pending';
  /** Whether the file says that the test is not to be run. */
  isLeftOut: boolean;
  /** The first message of the failure, or why the test was skipped. */
  message?: string;
}

/** The judgement of the gate on `npm test`. It is green if no test has failed and nothing is a problem. */
export interface Verdict {
  passed: number;
  failed: number;
  /** A line for each test that has failed, and passed when its file ran alone. */
  unstable: string[];
  /** Why the run is red, but for failed tests: a sentence each. */
  problems: string[];
}

const mostRepeated = 5;

/**
 * Finds the files that run once more, alone: those that have failed. Returns none if nothing has failed, and none if the
 * run is red whatever they would show: with more than five failed files, an error outside of a test, or a file that did
 * not end.
 */
export function findRepeated(first: RunOutcome): string[] {
  const failed = first.files.filter(({ state }) => state === 'failed').map(({ path }) => path);
  return findProblems(first).length > 0 || failed.length > mostRepeated ? [] : failed;
}

/** Judges a run, with the second run of what `findRepeated` has found. */
export function judge(first: RunOutcome, second?: RunOutcome): Verdict {
  const repeated = new Set(findRepeated(first));
  const problems = [...findProblems(first), ...(second ? findProblems(second) : [])];
  const unstable: string[] = [];
  const counted = first.files.map((file) => {
    if (!repeated.has(file.path)) return file;
    const again = second?.files.find(({ path }) => path === file.path);
    if (again === undefined) problems.push(`${file.path} did not run a second time.`);
    else if (again.state !== 'failed') {
      problems.push(...findMissing(file, again));
      unstable.push(...listFailures(file));
    }
    return again ?? file;
  });
  const { passed, failed } = countTests(counted);
  if (passed === 0) problems.push('No test has passed.');
  return { passed, failed, unstable, problems };
}

/** The judgement on a run whose failed files do not run again. */
export interface SingleVerdict extends Omit<Verdict, 'unstable'> {
  skipped: number;
  /** The files all of whose tests were skipped, each with the reason if a test says one. */
  skippedFiles: string[];
}

/** Judges a run whose failed files do not run again. */
export function judgeOnce(run: RunOutcome): SingleVerdict {
  // Vitest says that a file has passed if its tests skipped themselves.
  const skipped = run.files.filter(({ tests }) => tests.length > 0 && tests.every(({ state }) => state === 'skipped'));
  const skippedFiles = skipped.map(({ path, tests }) => {
    const reason = tests.find(({ message }) => message !== undefined)?.message;
    return reason === undefined ? path : `${path}: ${reason}`;
  });
  return { ...countTests(run.files), problems: findProblems(run), skippedFiles };
}

function countTests(files: readonly FileOutcome[]) {
  const count = (wanted: string) => files.flatMap(({ tests }) => tests).filter(({ state }) => state === wanted).length;
  // A file can fail without a failed test.
  const brokenFiles = files.filter(
    ({ state, tests }) => state === 'failed' && tests.every((test) => test.state !== 'failed'),
  );
  return { passed: count('passed'), failed: count('failed') + brokenFiles.length, skipped: count('skipped') };
}

function findProblems({ files, strayErrors }: RunOutcome): string[] {
  return [
    ...strayErrors.map((message) => `An error outside of a test: ${message}`),
    ...files.flatMap(({ path, state }) =>
      state === 'queued' || state === 'pending' ? [`${path} did not run to its end.`] : [],
    ),
  ];
}

/** The tests that the second run of a file lacks. */
function findMissing(first: FileOutcome, second: FileOutcome): string[] {
  const ran = (name: string) =>
    second.tests.some((test) => test.name === name && (test.state === 'passed' || test.isLeftOut));
  const names = new Set([...first.tests, ...second.tests].map(({ name }) => name));
  const missing = [...names].filter((name) => !ran(name));
  if (names.size === 0) return [`${second.path} has no tests.`];
  return missing.map((name) => `${second.path} > ${name} did not run a second time.`);
}

function listFailures({ path, message, tests }: FileOutcome): string[] {
  const failed = tests.filter(({ state }) => state === 'failed');
  if (failed.length === 0) return [`${path}: ${message}`];
  return failed.map((test) => `${path} > ${test.name}: ${test.message}`);
}
