import { spawn } from 'node:child_process';
import { existsSync, globSync, mkdirSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { cpus, tmpdir } from 'node:os';
import { join } from 'node:path';
import { projects } from '../../vitest.config.ts';
import { clientFiles, clientFolder } from '../client/client-files.ts';
import { findHelpers, findIdleLimits, findMachineChecks } from '../dev/machine-checks.ts';
import { brokenReferences, headingsIn } from '../dev/source-references.ts';
import { findMisplaced } from '../dev/test-parts.ts';
import { findTraceProblems, readMarks, readRequirements } from '../docs/traces.ts';
import { declareCommand } from './command.ts';

/** One static check. It passes if its command exits with code 0 and `judge` finds no problem. */
interface Check {
  name: string;
  command: readonly [string, ...string[]];
  /** Looks for a problem in the output of a command that exited with code 0; returns the problem, if there is one. */
  judge?: (output: string) => string | undefined;
}

const generated = join(tmpdir(), `ticketing-generated-${process.pid}`);

const checks: readonly Check[] = [
  { name: 'types', command: ['tsc', '-p', 'tsconfig.json'] },
  { name: 'lint', command: ['biome', 'check', '.', '--error-on-warnings'] },
  { name: 'contracts: format', command: ['buf', 'format', '--diff', '--exit-code'] },
  { name: 'contracts: lint', command: ['buf', 'lint'] },
  // The contracts must stay compatible with clients and services of the last release.
  { name: 'contracts: breaking', command: ['buf', 'breaking', '--against', 'packages/contracts/released.binpb'] },
  {
    name: 'structure',
    command: ['depcruise', 'packages', 'services', 'tools', 'bench', 'test', '--config', '.dependency-cruiser.cjs'],
    // With an unsupported version of TypeScript, dependency-cruiser checks no module and reports success.
    judge: (output) => (/\b0 modules\b/.test(output) ? 'no module was checked' : undefined),
  },
  { name: 'unused code', command: ['knip'] },
];

const usage = `Runs the static checks: types, lint, contracts, import rules, unused code, generated files, references in comments
and documents, and tests that depend on the machine or run nowhere. The exit code is 1 if one fails:

  npm run check
`;

export const command = declareCommand({ usage, options: {}, runsInProduction: true }, async () => {
  try {
    const results = [
      ...(await runAll(checks)),
      await contractsAreGenerated(),
      await clientIsGenerated(),
      sourcesExist(),
      requirementsHaveTests(),
      testsAreOfBehaviour(),
      testsHaveParts(),
    ];
    const failed = results.filter((isGood) => !isGood).length;
    process.stdout.write(`${results.length - failed} checks passed, ${failed} failed\n`);
    return failed === 0 ? 0 : 1;
  } finally {
    rmSync(generated, { recursive: true, force: true });
  }
});

async function runAll(all: readonly Check[]): Promise<boolean[]> {
  const waiting = [...all];
  const results: boolean[] = [];
  const worker = async () => {
    for (let check = waiting.shift(); check; check = waiting.shift()) results.push(await runCheck(check));
  };
  await Promise.all(Array.from({ length: Math.max(1, cpus().length) }, worker));
  return results;
}

async function runCheck({ name, command: [program, ...args], judge }: Check): Promise<boolean> {
  const startedAt = performance.now();
  const { code, output } = await run(program, args);
  const problem = code === 0 ? judge?.(output) : `exited with code ${code}`;
  report(name, startedAt, problem, output);
  return problem === undefined;
}

/** Checks that the committed generated code equals a fresh generation from proto/. */
async function contractsAreGenerated(): Promise<boolean> {
  const startedAt = performance.now();
  mkdirSync(generated);
  const image = join(generated, 'contract.binpb');
  const code = await run('buf', ['generate', '--output', generated]);
  const built = await run('buf', ['build', '--as-file-descriptor-set', '--exclude-imports', '-o', image]);
  const committed = 'packages/contracts/src';
  const differing = [
    ...differences(join(generated, committed, 'gen'), join(committed, 'gen')),
    ...(same(image, join(committed, 'contract.binpb')) ? [] : ['contract.binpb']),
  ];
  const problem =
    code.code !== 0 || built.code !== 0
      ? 'the generator failed'
      : differing.length > 0
        ? 'the generated code is out of date; run npm run generate'
        : undefined;
  report('contracts: generated', startedAt, problem, `${code.output}${built.output}${differing.join('\n')}`);
  return problem === undefined;
}

/** Checks that the generated files of packages/client follow from the contracts, and that there are no others. */
async function clientIsGenerated(): Promise<boolean> {
  const startedAt = performance.now();
  const fresh = await clientFiles();
  const committed = readdirSync(clientFolder, { recursive: true, encoding: 'utf8' }).filter((file) =>
    file.endsWith('.ts'),
  );
  const read = (name: string) =>
    existsSync(join(clientFolder, name)) ? readFileSync(join(clientFolder, name), 'utf8') : '';
  const names = [...new Set([...Object.keys(fresh), ...committed])];
  const differing = names.filter((name) => fresh[name] !== read(name));
  const problem = differing.length > 0 ? 'the generated client is out of date; run npm run generate' : undefined;
  report('client: generated', startedAt, problem, differing.join('\n'));
  return problem === undefined;
}

/** Checks that every file and heading that a comment refers to exists in the repository. */
function sourcesExist(): boolean {
  const startedAt = performance.now();
  const files = globSync('{packages,services,tools,test,bench,proto,docs}/**/*.{ts,proto,md}', {
    exclude: (name) => name.includes('node_modules') || name.includes('/gen/') || name.includes('/dist/'),
  });
  const known = new Map<string, Set<string>>();
  const readHeadings = (document: string) => {
    const headings = known.get(document) ?? headingsIn(document);
    known.set(document, headings);
    return headings;
  };
  const broken = files
    .filter((file) => !/source-references\.(test\.)?ts$|^docs\/reference\//.test(file))
    .flatMap((file) => brokenReferences(file, readFileSync(file, 'utf8'), readHeadings));
  const problems = broken.map(({ file, line, text }) => `${file}:${line}: ${text}`);
  const output = problems.join('\n');
  const problem =
    problems.length > 0 ? `${problems.length} references to a file or heading that does not exist` : undefined;
  report('sources in comments', startedAt, problem, output);
  return problem === undefined;
}

/** Checks that tests show each statement of the specification, guarantee and requirement of ASVS, as their marks say. */
function requirementsHaveTests(): boolean {
  const startedAt = performance.now();
  const problems = findTraceProblems(readRequirements('.'), readMarks('.'));
  const problem = problems.length > 0 ? `${problems.length} marks of tests are wrong or missing` : undefined;
  report('marks of tests', startedAt, problem, problems.join('\n'));
  return problem === undefined;
}

/** Checks that the machine, or chance, decides no test of `npm test`, and that limits are measured somewhere. */
function testsAreOfBehaviour(): boolean {
  const startedAt = performance.now();
  const tests = findTests();
  const ordinary = tests.filter((file) => !/\.(?:timed|searches|system|deploy)\.test\.ts$/.test(file));
  const helpers = findHelpers(ordinary);
  const others = tests.filter((file) => /\.(?:searches|system|deploy)\.test\.ts$/.test(file));
  const problems = [
    ...[...ordinary, ...helpers].flatMap((file) => findMachineChecks(file, readFileSync(file, 'utf8'))),
    ...[...others, ...helpers].flatMap((file) => findIdleLimits(file, readFileSync(file, 'utf8'))),
  ];
  const problem =
    problems.length > 0 ? `${problems.length} lines of tests depend on the machine or on chance` : undefined;
  report('tests of behaviour', startedAt, problem, problems.join('\n'));
  return problem === undefined;
}

/** Checks that each test file runs: in `npm test`, or in one part of the acceptance run. */
function testsHaveParts(): boolean {
  const startedAt = performance.now();
  const parts = Object.fromEntries(Object.entries(projects).map(([name, list]) => [name, list()]));
  const problems = findMisplaced(findTests(), parts);
  const problem = problems.length > 0 ? `${problems.length} test files or patterns have no place` : undefined;
  report('parts of tests', startedAt, problem, problems.join('\n'));
  return problem === undefined;
}

function findTests(): string[] {
  return globSync('{packages,services,tools,test,bench}/**/*.test.ts', {
    exclude: (name) => name.includes('node_modules'),
  });
}

function differences(fresh: string, committed: string): string[] {
  const files = (folder: string) =>
    readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((file) => file.endsWith('.ts'));
  const names = new Set([...files(fresh), ...files(committed)]);
  return [...names].filter((name) => !same(join(fresh, name), join(committed, name)));
}

function same(left: string, right: string): boolean {
  try {
    return readFileSync(left).equals(readFileSync(right));
  } catch {
    return false;
  }
}

function run(program: string, args: readonly string[]): Promise<{ code: number | null; output: string }> {
  return new Promise((resolve, reject) => {
    const child = spawn(program, args, { stdio: ['ignore', 'pipe', 'pipe'] });
    const chunks: Buffer[] = [];
    child.stdout.on('data', (chunk: Buffer) => chunks.push(chunk));
    child.stderr.on('data', (chunk: Buffer) => chunks.push(chunk));
    child.on('error', reject);
    child.on('close', (code) => resolve({ code, output: Buffer.concat(chunks).toString() }));
  });
}

function report(name: string, startedAt: number, problem: string | undefined, output: string): void {
  const seconds = ((performance.now() - startedAt) / 1000).toFixed(1);
  process.stdout.write(
    `${problem === undefined ? 'ok    ' : 'FAILED'} ${name} (${seconds} s)${problem ? `: ${problem}` : ''}\n`,
  );
  if (problem !== undefined) process.stdout.write(`${output}\n`);
}
