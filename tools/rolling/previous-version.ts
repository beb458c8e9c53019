import { execFileSync, type StdioOptions } from 'node:child_process';
import {
  cpSync,
  existsSync,
  globSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';

const root = join(import.meta.dirname, '..', '..');
const cache = join(root, 'node_modules', '.cache', 'previous');

/**
 * The revision that counts as the previous version as long as there is no release. Once there is a tag `v…`, the newest
 * one counts instead.
 */
const recordedRevision = 'ec71e4c0';
const fetchTimeoutMs = 120_000;

/** The previous version of the system: its revision, or why it is not in this clone. */
export type PreviousVersion = { revision: string } | { missing: string };

/**
 * Finds the previous version in the repository. A shallow clone may not have it; in CI (`CI` is set) it is fetched then, and a
 * line says so if that fails.
 *
 * Errors: a complete clone without it.
 */
export function findPreviousVersion(isCi = Boolean(process.env.CI), clone = root): PreviousVersion {
  const found = lookUp(clone);
  if ('revision' in found || !isCi) return found;
  fetchAll(clone);
  const fetched = lookUp(clone);
  if ('missing' in fetched) process.stderr.write(`NOT TRIED: an upgrade from N−1, because ${fetched.missing}.\n`);
  return fetched;
}

/** Fetches the whole history and the tags from where the clone comes from, as far as that can be reached. */
function fetchAll(clone: string): void {
  const git = gitIn(clone);
  const isShallow = git('rev-parse', '--is-shallow-repository') === 'true';
  git('fetch', '--quiet', '--tags', ...(isShallow ? ['--unshallow'] : []), 'origin');
}

function lookUp(clone: string): PreviousVersion {
  const git = gitIn(clone);
  const wanted = git('describe', '--tags', '--abbrev=0', '--match', 'v*', 'HEAD^') ?? recordedRevision;
  const revision = git('rev-parse', '--verify', '--quiet', `${wanted}^{commit}`);
  if (revision) return { revision };
  const isShallow = git('rev-parse', '--is-shallow-repository');
  if (isShallow === undefined) return { missing: 'this folder is no clone, which would have the previous version' };
  if (isShallow === 'true') {
    return { missing: `the previous version, ${wanted}, is not in this clone; git fetch --unshallow gets it` };
  }
  throw new Error(
    `The clone is complete, but lacks the previous version, ${wanted}: name it by git tag v0.1.0 COMMIT.`,
  );
}

/**
 * Bundles the services of a revision by its own build, with the dependencies that are installed now, and returns the folder
 * of the bundles. A revision is built once.
 */
export async function buildRevision(revision: string): Promise<string> {
  const built = join(cache, revision);
  if (existsSync(built)) return built;
  // Not below node_modules, where Node runs no TypeScript.
  const sources = mkdtempSync(join(tmpdir(), 'ticketing-previous-'));
  try {
    const archive = execFileSync('git', ['archive', revision], { cwd: root, maxBuffer: 1 << 30 });
    execFileSync('tar', ['-x', '-C', sources], { input: archive });
    linkPackages(sources);
    execFileSync(process.execPath, buildProgram(sources), { cwd: sources, stdio: ['ignore', 'ignore', 'inherit'] });
    mkdirSync(cache, { recursive: true });
    const copy = mkdtempSync(join(cache, 'unfinished-'));
    cpSync(join(sources, 'dist'), copy, { recursive: true });
    renameSync(copy, built);
  } finally {
    rmSync(sources, { recursive: true, force: true });
  }
  return built;
}

/** Returns the program, and its arguments, by which `npm run build` of a revision builds, without the installation before. */
function buildProgram(sources: string): string[] {
  const { scripts } = JSON.parse(readFileSync(join(sources, 'package.json'), 'utf8')) as { scripts: { build: string } };
  const [, program = '', ...args] = scripts.build.split(' ');
  // run.mjs installs, and then runs main.ts.
  return [program.replace(/run\.mjs$/, 'main.ts'), ...args];
}

/** Lets imports find the dependencies of today, but the workspaces of the revision. */
function linkPackages(sources: string): void {
  const installed = join(root, 'node_modules');
  for (const name of globSync('{[!.@]*,@!(ticketing)/*}', { cwd: installed })) {
    linkTo(join(installed, name), join(sources, 'node_modules', name));
  }
  for (const file of globSync('{packages,services}/*/package.json', { cwd: sources })) {
    const { name } = JSON.parse(readFileSync(join(sources, file), 'utf8')) as { name: string };
    const workspace = join(sources, dirname(file));
    linkTo(workspace, join(sources, 'node_modules', name));
    // Versions of dependencies that only this workspace has.
    const own = join(root, dirname(file), 'node_modules');
    if (existsSync(own)) linkTo(own, join(workspace, 'node_modules'));
  }
}

function linkTo(target: string, link: string): void {
  mkdirSync(dirname(link), { recursive: true });
  symlinkSync(target, link);
}

/** Runs git in a clone. Returns the output of a command; undefined if it fails, or prints nothing. */
function gitIn(cwd: string): (...args: string[]) => string | undefined {
  return (...args) => {
    try {
      // A server that asks for a password counts as unreachable.
      const env = { ...process.env, GIT_TERMINAL_PROMPT: '0' };
      const stdio: StdioOptions = ['ignore', 'pipe', 'ignore'];
      const output = execFileSync('git', args, { cwd, env, stdio, encoding: 'utf8', timeout: fetchTimeoutMs });
      return output.trim() || undefined;
    } catch {
      return undefined;
    }
  };
}
