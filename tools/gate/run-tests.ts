import { spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { RunOutcome } from './outcome.ts';

/**
 * Runs `npm test` with arguments of Vitest, and returns what it has found; a sentence if it has failed and does not say in
 * which test.
 */
export async function runTests(
  args: readonly string[],
  variables: NodeJS.ProcessEnv = {},
): Promise<RunOutcome | string> {
  const folder = mkdtempSync(join(tmpdir(), 'ticketing-gate-'));
  const path = join(folder, 'outcome.json');
  try {
    const reporters = ['--reporter=default', '--reporter=./tools/gate/outcome-reporter.ts'];
    const { code } = await runNpm(['test', '--', ...reporters, ...args], {
      ...variables,
      TICKETING_TEST_OUTCOME: path,
    });
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
export async function runNpm(
  args: readonly string[],
  variables: NodeJS.ProcessEnv = {},
): Promise<{ code: number | null; output: string }> {
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
