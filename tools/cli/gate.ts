import { findRepeated, judge } from '../gate/outcome.ts';
import { runNpm, runTests } from '../gate/run-tests.ts';
import { declareCommand, print } from './command.ts';

const usage = `Says whether a state of the repository is right: the static checks, all tests of npm test, and the commands of the README
against a system that npm start has started. It ends at the first part that fails:

  npm run gate

Test files that fail, at most five, run once more, alone. What passes then is named UNSTABLE, and fails nothing: the cause
is to be mended next. The last line is "N passed, N failed"; the exit code is 1 if a part has failed or could not run.
`;

/** The counts of a part, and other reasons why it is red. */
interface PartResult {
  passed: number;
  failed: number;
  problems: readonly string[];
}

const parts: Readonly<Record<string, () => Promise<PartResult>>> = {
  'static checks': () => countedBy(['run', 'check']),
  tests: runAllTests,
  'the README': () => countedBy(['run', 'smoke']),
};

const unstable: string[] = [];

export const command = declareCommand({ usage, options: {} }, async () => {
  const sum = { passed: 0, failed: 0 };
  for (const [name, run] of Object.entries(parts)) {
    print(`\n== ${name}`);
    const startedAt = performance.now();
    const { passed, failed, problems } = await run();
    for (const problem of problems) print(`FAILED ${problem}`);
    // A part that cannot run at all counts as one failure.
    const isRed = failed > 0 || problems.length > 0;
    sum.passed += passed;
    sum.failed += isRed ? Math.max(failed, 1) : 0;
    print(`== ${name}: ${passed} passed, ${failed} failed, ${Math.round((performance.now() - startedAt) / 1000)} s`);
    if (isRed) break;
  }
  for (const line of unstable) print(`UNSTABLE ${line}`);
  print(`\n${sum.passed} passed, ${sum.failed} failed`);
  return sum.failed === 0 ? 0 : 1;
});

/** Runs a script of npm that ends with a line "N … passed, N failed". */
async function countedBy(args: readonly string[]): Promise<PartResult> {
  const { code, output } = await runNpm(args);
  const [, passed = 0, failed = 0] = [...output.matchAll(/^(\d+) [a-z ]*passed, (\d+) failed$/gm)].at(-1) ?? [];
  const problems = [];
  if (code !== 0 && Number(failed) === 0) problems.push(`npm ${args.join(' ')} exited with code ${code}.`);
  else if (Number(passed) === 0) problems.push(`npm ${args.join(' ')} has tried nothing.`);
  return { passed: Number(passed), failed: Number(failed), problems };
}

async function runAllTests(): Promise<PartResult> {
  const first = await runTests([]);
  if (typeof first === 'string') return { passed: 0, failed: 0, problems: [first] };
  const files = findRepeated(first);
  if (files.length > 0) print(`\n== the files that failed, alone: ${files.join(', ')}`);
  const second = files.length > 0 ? await runTests(['--maxWorkers=1', '--isolate', ...files]) : undefined;
  if (typeof second === 'string') return { ...judge(first), problems: [second] };
  const verdict = judge(first, second);
  unstable.push(...verdict.unstable);
  return verdict;
}
