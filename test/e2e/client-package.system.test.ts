import { execFile, execFileSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { apiDocument } from '../../tools/client/client-files.ts';
import { type StartedSystem, startedSystem } from '../../tools/dev/started-system.ts';
import { type Snippet, snippetsIn } from '../../tools/docs/snippets.ts';

const root = join(import.meta.dirname, '../..');
const snippets = snippetsIn(join(root, 'packages/client/README.md'));
const run = promisify(execFile);

let system: StartedSystem;
/** A folder outside of the repository with the packed package and nothing else. */
let folder: string;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'ticketing-client-'));
  const starting = startedSystem();
  try {
    install();
  } finally {
    system = await starting;
  }
});
afterAll(async () => {
  rmSync(folder, { recursive: true, force: true });
  await system?.stop();
});

/** Installs the packed package without a network: its dependencies come from the folders in which they are installed here. */
function install(): void {
  const npm = (args: string[], cwd: string) => execFileSync('npm', args, { cwd, encoding: 'utf8', stdio: 'pipe' });
  const packed: [{ filename: string }] = JSON.parse(
    npm(['pack', '--silent', '--json', '--pack-destination', folder], join(root, 'packages/client')),
  );
  writeFileSync(join(folder, 'package.json'), '{"private": true, "type": "module"}');
  const dependencies = listDependencies(join(root, 'packages/client'));
  const quiet = ['--offline', '--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error'];
  npm(['install', ...quiet, '--install-links', `./${packed[0].filename}`, ...dependencies], folder);
}

/** The folders of all packages that a package needs. */
function listDependencies(packageFolder: string, known = new Set<string>()): Set<string> {
  const { dependencies = {} } = JSON.parse(readFileSync(join(packageFolder, 'package.json'), 'utf8'));
  for (const name of Object.keys(dependencies)) {
    const own = join(packageFolder, 'node_modules', name);
    const found = existsSync(own) ? own : join(root, 'node_modules', name);
    if (known.has(found)) continue;
    known.add(found);
    listDependencies(found, known);
  }
  return known;
}

/** The program of the oldest Node that the package supports, among that of the repository and those on the path. */
function oldestNode(): string {
  const onPath = (process.env.PATH ?? '').split(delimiter).map((directory) => join(directory, 'node'));
  const byVersion = new Map<string, string>();
  for (const program of [process.execPath, ...onPath.filter((path) => existsSync(path))]) {
    const version = execFileSync(realpathSync(program), ['--version'], { encoding: 'utf8' });
    if (Number(/^v(\d+)/.exec(version)?.[1]) >= 20) byVersion.set(version, program);
  }
  const [oldest] = [...byVersion].sort(([left], [right]) => left.localeCompare(right, 'en', { numeric: true }));
  return oldest?.[1] ?? process.execPath;
}

const example = ({ name }: Snippet) => /^\S+\.m[jt]s$/.test(name);

test('the package has no file of tests, and what its description promises', () => {
  const installed = join(folder, 'node_modules/@ticketing/client');
  const { exports, license } = JSON.parse(readFileSync(join(installed, 'package.json'), 'utf8'));
  expect(license).toBe('MIT');
  for (const file of ['README.md', 'LICENSE', exports['.'], exports['./rpc']])
    expect(existsSync(join(installed, file))).toBe(true);
  expect(existsSync(join(installed, 'src'))).toBe(false);
});

test('the types of the package hold in a strict program, and those of the examples', async () => {
  const compilerOptions = {
    target: 'es2022',
    module: 'nodenext',
    strict: true,
    noUncheckedIndexedAccess: true,
    exactOptionalPropertyTypes: true,
    skipLibCheck: false,
    outDir: '.',
    types: ['node'],
    typeRoots: [join(root, 'node_modules/@types')],
  };
  const files = snippets.filter((snippet) => example(snippet) && snippet.language === 'ts');
  expect(files.length).toBeGreaterThan(1);
  for (const { name, code } of files) writeFileSync(join(folder, name), code);
  writeFileSync(
    join(folder, 'tsconfig.json'),
    JSON.stringify({ compilerOptions, files: files.map(({ name }) => name) }),
  );
  const tsc = join(root, 'node_modules/typescript/bin/tsc');
  const { stdout } = await run(process.execPath, [tsc, '-p', folder]).catch((error: { stdout: string }) => error);
  expect(stdout).toBe('');
});

describe('the examples of the README print what it says', () => {
  const examples = snippets.flatMap((snippet, index): [name: string, code: string, printed: string][] => {
    const next = snippets[index + 1];
    return example(snippet)
      ? [[snippet.name, snippet.code, next?.language === 'text' ? next.code : 'nothing is shown']]
      : [];
  });

  test.each(examples)('%s', async (name, code, printed) => {
    // The compiler has made a program of an example with types.
    const program = name.replace(/\.mts$/, '.mjs');
    if (program === name) writeFileSync(join(folder, name), code);
    const env = {
      ...process.env,
      TICKETS_API_URL: system.url,
      TICKETS_API_TOKEN: system.token,
      TICKETS_RPC_URL: system.rpcUrl('tickets'),
    };
    const { stdout, stderr } = await run(oldestNode(), [program], { cwd: folder, env, timeout: 120_000 });
    expect({ stdout, stderr }).toEqual({ stdout: printed, stderr: '' });
  });
});

test('the client is generated from the document that the gateway serves', async () => {
  const served: unknown = await (await fetch(`${system.url}/openapi.json`)).json();
  const { paths, components } = apiDocument();
  expect(served).toMatchObject(JSON.parse(JSON.stringify({ paths, components })));
});
