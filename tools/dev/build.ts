import { createHash } from 'node:crypto';
import {
  existsSync,
  globSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  utimesSync,
} from 'node:fs';
import { join } from 'node:path';
import { runChild } from './child-service.ts';

const root = join(import.meta.dirname, '..', '..');
/** Contains a folder for each recently built version of the sources, named by the hash of the sources. */
const recentBuilds = join(root, 'node_modules', '.cache', 'services');
/** How long a build is kept after it was last used: a system may run that long, and restarts its processes from it. */
const buildKeptMs = 30 * 24 * 3_600_000;

/**
 * Bundles the program of each service with all its imports into `folder`/SERVICE/main.mjs (docs/decisions/0017). Beside it
 * are the programs of its workers, `health.mjs`, the files that it reads, and which packages are in it: the folder is all
 * that Node needs. The code is not minified, so that stack traces can be read.
 *
 * The bundler runs in a process that ends, because it keeps some 2 GB of memory.
 *
 * Errors: a module that is missing, or cannot be read; the process has printed which.
 */
export function build(folder: string): Promise<void> {
  return runChild('The build', [join(import.meta.dirname, 'bundle-services.ts'), folder], process.env);
}

/** The path of a service's program in a folder that `build` has filled. */
export function programIn(folder: string, service: string): string {
  return join(folder, service, 'main.mjs');
}

let building: Promise<string> | undefined;

/** Returns a folder with the services built from the current sources. Builds them if there is no such build yet. */
export function currentBuild(): Promise<string> {
  building ??= buildRecent();
  return building;
}

async function buildRecent(): Promise<string> {
  const hash = hashOfSources();
  const folder = join(recentBuilds, hash);
  mkdirSync(recentBuilds, { recursive: true });
  if (!existsSync(folder)) {
    removeOldBuilds();
    const unfinished = mkdtempSync(`${folder}-`);
    try {
      await build(unfinished);
      // A source that was saved during the build may or may not be in it, so the build is repeated.
      if (hashOfSources() !== hash) return await buildRecent();
      renameSync(unfinished, folder);
    } catch (error) {
      // The rename fails if another process has made the same build meanwhile, which is then used.
      if (!existsSync(folder)) throw error;
    } finally {
      rmSync(unfinished, { recursive: true, force: true });
    }
  }
  const now = new Date();
  utimesSync(folder, now, now);
  return folder;
}

function hashOfSources(): string {
  const hash = createHash('sha256').update(process.version);
  const files = globSync(
    [
      '{services,packages}/*/{package.json,src/**/*.ts}',
      'package-lock.json',
      'tsconfig*.json',
      'tools/dev/{build,bundle-services,bundled-files,bill-of-materials}.ts',
    ],
    { cwd: root },
  );
  for (const file of files.sort()) hash.update(`${file}\0`).update(readFileSync(join(root, file)));
  return hash.digest('hex').slice(0, 16);
}

function removeOldBuilds(): void {
  for (const name of readdirSync(recentBuilds)) {
    const folder = join(recentBuilds, name);
    const usedAt = statSync(folder, { throwIfNoEntry: false })?.mtimeMs ?? 0;
    if (usedAt < Date.now() - buildKeptMs) rmSync(folder, { recursive: true, force: true });
  }
}
