import { spawnSync } from 'node:child_process';
import { judgeOnce } from '../gate/outcome.ts';
import { runNpm, runTests } from '../gate/run-tests.ts';
import { openTestServers } from '../gate/test-servers.ts';
import { declareCommand, print, readNumber, UsageError } from './command.ts';

const usage = `Tries what takes longer than the gate, or needs what a machine may lack. Nothing else should run meanwhile:

  npm run accept                        every part
  npm run accept -- timed containers    some parts
  npm run accept -- --from system       a part, and those after it

  timed       time, processor time and memory; each figure is printed
  searches    properties with many inputs, crashes at each write
  system      hostile clients, and whole systems
  containers  stores, events and queries on a real MongoDB and Kafka: those that MONGODB_URI and KAFKA_BROKERS name, else containers
  deploy      dashboards, alerts, images, and manifests on the control plane that KUBECONFIG names
  faults      20 kills under load, with two processes of each service

  --from PART    begins with this part
  --seed NUMBER  the seed of everything random (default: TICKETING_TEST_SEED, else a new one)

It goes on after a part that fails, and ends with a line for each part, and for each file that was skipped. A part that cannot
run here is skipped. The exit code is 1 if one has failed, one that you named was skipped, or nothing has passed.

One file of a part: npm test -- --mode timed packages/sandbox
`;

/** The counts of a part. */
interface PartResult {
  passed: number;
  failed: number;
  skipped: number;
  /** Why none of it has run. */
  reason?: string;
  /** The files that were skipped, each with the reason. */
  skippedFiles?: readonly string[];
}
const nothing = { passed: 0, failed: 0, skipped: 0 };

const parts = {
  timed: () => runPart('timed'),
  searches: () => runPart('searches'),
  system: () => runPart('system'),
  containers: runContainers,
  deploy: () => runPart('deploy'),
  faults: runFaults,
};
type Part = keyof typeof parts;
const names = Object.keys(parts) as Part[];

export const command = declareCommand(
  { usage, options: { from: { type: 'string' }, seed: { type: 'string' } }, words: 'any' },
  async ({ from, seed }, words) => {
    if (from !== undefined && words.length > 0) throw new UsageError('Name parts, or --from, not both.');
    const chosen = words.length > 0 ? words.map(readPart) : names.slice(from ? names.indexOf(readPart(from)) : 0);
    const most = 999_999_999;
    if (seed !== undefined) process.env.TICKETING_TEST_SEED = String(readNumber('seed', seed, { to: most }));
    process.env.TICKETING_TEST_SEED ??= String(Date.now() % most);
    const commit = spawnSync('git', ['describe', '--always', '--dirty'], { encoding: 'utf8' }).stdout?.trim() ?? '';
    const lines: string[] = [];
    const skippedFiles: string[] = [];
    let passed = 0;
    let hasFailed = false;
    for (const part of chosen) {
      print(`\n== ${part}`);
      const startedAt = performance.now();
      const result = await parts[part]().catch(toFailure);
      const seconds = Math.round((performance.now() - startedAt) / 1000);
      const counts = `${result.passed} passed, ${result.failed} failed, ${result.skipped} skipped`;
      const found = result.reason === undefined ? counts : `skipped: ${result.reason}`;
      skippedFiles.push(...(result.skippedFiles ?? []));
      passed += result.passed;
      hasFailed ||= result.failed > 0 || (result.reason !== undefined && words.length > 0);
      lines.push(`${part.padEnd(10)}  ${commit}  ${String(seconds).padStart(4)} s  ${found}`);
      print(`== ${lines.at(-1)}`);
    }
    print(`\nseed ${process.env.TICKETING_TEST_SEED}`);
    for (const line of lines) print(line);
    for (const file of skippedFiles) print(`skipped ${file}`);
    return hasFailed || passed === 0 ? 1 : 0;
  },
);

function toFailure(error: unknown): PartResult {
  print(error instanceof Error ? error.message : String(error));
  return { ...nothing, failed: 1 };
}

function readPart(text: string): Part {
  const part = names.find((name) => name === text);
  if (part === undefined) throw new UsageError(`There is no part "${text}"; the parts are ${names.join(', ')}.`);
  return part;
}

/** Runs the tests of a part. */
async function runPart(mode: Part, variables: NodeJS.ProcessEnv = {}): Promise<PartResult> {
  const outcome = await runTests(['--mode', mode], variables);
  if (typeof outcome === 'string') {
    print(outcome);
    return { ...nothing, failed: 1 };
  }
  const { problems, ...result } = judgeOnce(outcome);
  for (const problem of problems) print(problem);
  if (problems.length > 0) return { ...result, failed: Math.max(result.failed, 1) };
  if (result.passed + result.failed > 0) return result;
  return { ...result, reason: 'this machine lacks what its tests need' };
}

async function runContainers(): Promise<PartResult> {
  const servers = await openTestServers();
  if ('missing' in servers) return { ...nothing, reason: servers.missing };
  try {
    return await runPart('containers', servers.variables);
  } finally {
    await servers.stop();
  }
}

async function runFaults(): Promise<PartResult> {
  if (process.platform !== 'linux') return { ...nothing, reason: 'it needs Linux' };
  const seed = process.env.TICKETING_TEST_SEED ?? '';
  const { code } = await runNpm(['run', 'faults', '--', '--kills', '20', '--replicas', '--seed', seed]);
  return code === 0 ? { ...nothing, passed: 1 } : { ...nothing, failed: 1 };
}
