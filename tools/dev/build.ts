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
import { dirname, join } from 'node:path';
import { type ServiceEntry, services, variableOf } from '@ticketing/system/services.ts';
import type { Plugin } from 'rolldown';
import { billOfMaterials } from './bill-of-materials.ts';
import { bundledFiles } from './bundled-files.ts';

const root = join(import.meta.dirname, '..', '..');
/** Contains a folder for each recently built version of the sources, named by the hash of the sources. */
const recentBuilds = join(root, 'node_modules', '.cache', 'services');
/** How long a build is kept after it was last used: a system may run that long, and restarts its processes from it. */
const buildKeptMs = 30 * 24 * 3_600_000;
/**
 * Escapes all characters beyond ASCII in bundles, because a single one makes Node keep the whole file in memory with
 * two bytes per character.
 */
const asciiOnly: Plugin = {
  name: 'ascii-only',
  generateBundle(_, bundle) {
    for (const chunk of Object.values(bundle)) {
      if (chunk.type !== 'chunk') continue;
      if (/String\.raw`[^`]*[^\0-\x7f]/.test(chunk.code))
        throw new Error('A String.raw template holds a character beyond ASCII, which cannot be escaped there.');
      chunk.code = chunk.code.replace(/[^\0-\x7f]/g, escaped);
    }
  },
};

/**
 * Makes a program of its own of each module that is named as `new URL('./x.worker.ts', import.meta.url)`, because a worker
 * of a sandbox is a process (docs/decisions/0023), and a thread starts with a file too.
 */
const workerPrograms: Plugin = {
  name: 'worker-programs',
  transform(code, importer) {
    if (!code.includes(".worker.ts', import.meta.url)")) return null;
    return code.replace(/new URL\('(\.[^']*\.worker\.ts)', import\.meta\.url\)/g, (_, path: string) => {
      const id = this.emitFile({ type: 'chunk', id: join(dirname(importer), path) });
      return `new URL(import.meta.ROLLUP_FILE_URL_${id})`;
    });
  },
};

function escaped(unit: string): string {
  return `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`;
}

/** The name of the module from which the program `health.mjs` of a service is made. */
const healthModule = 'health-program';

/** Makes the program that asks a process of the service whether it is ready, without loading the service. */
function healthProgram({ name, ports }: ServiceEntry): Plugin {
  const probe = join(root, 'packages', 'service-kit', 'src', 'lifecycle', 'probe-health.ts');
  const call = `probeHealth('${variableOf(name, '')}', ${ports.http + 2000}, process.env)`;
  return {
    name: healthModule,
    resolveId: { filter: { id: /^health-program$/ }, handler: () => `\0${healthModule}.js` },
    load: {
      filter: { id: /^\0health-program\.js$/ },
      handler: () => `import { probeHealth } from '${probe}';\nprocess.exitCode = (await ${call}) ? 0 : 1;`,
    },
  };
}

/**
 * Bundles the program of each service with all its imports into `folder`/SERVICE/main.mjs (docs/decisions/0017). Beside it
 * are the programs of its workers, `health.mjs`, the files that it reads, and which packages are in it: the folder is all
 * that Node needs. The code is not minified, so that stack traces can be read.
 *
 * Errors: a module that is missing, or cannot be read.
 */
export async function build(folder: string): Promise<void> {
  // Loaded here because it is large, and most importers of this file never build.
  const { rolldown } = await import('rolldown');
  const buildOne = async (entry: ServiceEntry) => {
    const sources = join(root, 'services', entry.name, 'src');
    const bundle = await rolldown({
      input: { main: join(sources, 'main.ts'), health: healthModule },
      platform: 'node',
      plugins: [workerPrograms, bundledFiles, healthProgram(entry), billOfMaterials(entry.name), asciiOnly],
      logLevel: 'warn',
    });
    // Node treats .mjs as a module whatever package.json is nearest.
    const names = { entryFileNames: '[name].mjs', chunkFileNames: '[name]-[hash].mjs' };
    await bundle.write({ dir: join(folder, entry.name), format: 'esm', comments: false, ...names });
    await bundle.close();
  };
  await Promise.all(services.map(buildOne));
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
      ...['package-lock.json', 'tsconfig*.json', 'tools/dev/{build,bundled-files,bill-of-materials}.ts'],
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
