import { spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { findRepeated, judge, type RunOutcome } from '../gate/outcome.ts';
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
  tests: runTests,
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

async function runTests(): Promise<PartResult> {
  const first = await runVitest([]);
  if (typeof first === 'string') return { passed: 0, failed: 0, problems: [first] };
  const files = findRepeated(first);
  if (files.length > 0) print(`\n== the files that failed, alone: ${files.join(', ')}`);
  const second = files.length > 0 ? await runVitest(['--maxWorkers=1', '--isolate', ...files]) : undefined;
  if (typeof second === 'string') return { ...judge(first), problems: [second] };
  const verdict = judge(first, second);
  unstable.push(...verdict.unstable);
  return verdict;
}

/** Runs `npm test`, and returns what it has found; a sentence if it has failed and does not say in which test. */
async function runVitest(args: readonly string[]): Promise<RunOutcome | string> {
  const folder = mkdtempSync(join(tmpdir(), 'ticketing-gate-'));
  const path = join(folder, 'outcome.json');
  try {
    const reporters = ['--reporter=default', '--reporter=./tools/gate/outcome-reporter.ts'];
    const { code } = await runNpm(['test', '--', ...reporters, ...args], { TICKETING_TEST_OUTCOME: path });
    const outcome = JSON.parse(readFileSync(path, 'utf8')) as RunOutcome;
    const isGood = outcome.files.every(({ state }) => state !== 'failed') && outcome.strayErrors.length === 0;
    if (code !== 0 && isGood) return `npm test exited with code ${code}, and names no failed test.`;
    return outcome;
  } catch (error) {
    return `npm test has not said what it has found: ${error instanceof Error ? error.message : String(error)}`;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Runs npm, shows its output, and returns it. */
async function runNpm(args: readonly string[], variables: Readonly<Record<string, string>> = {}) {
  const child = spawn('npm', args, { env: { ...process.env, ...variables }, stdio: ['ignore', 'pipe', 'inherit'] });
  let output = '';
  child.stdout.setEncoding('utf8').on('data', (part: string) => {
    output += part;
    process.stdout.write(part);
  });
  const code = await new Promise<number | null>((resolve, reject) => {
    child.once('error', reject);
    child.once('close', resolve);
  });
  return { code, output };
}
