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
import { services } from '@ticketing/system/services.ts';
import type { Plugin } from 'rolldown';

const root = join(import.meta.dirname, '..', '..');
/** Builds of the sources as they are now and were lately, for systems that start from them. */
const recentBuilds = join(root, 'node_modules', '.cache', 'services');
/** Since a system was last started from it: it may run that long, and start its processes again. */
const keptMs = 30 * 24 * 3_600_000;
/** A single character beyond ASCII makes Node keep a whole file in two bytes a character. */
const asciiOnly: Plugin = {
  name: 'ascii-only',
  generateBundle(_, bundle) {
    for (const chunk of Object.values(bundle)) {
      if (chunk.type !== 'chunk') continue;
      if (/String\.raw`[^`]*[^\0-\x7f]/.test(chunk.code)) throw new Error('A raw template can not be escaped.');
      chunk.code = chunk.code.replace(/[^\0-\x7f]/g, escaped);
    }
  },
};

function escaped(unit: string): string {
  return `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`;
}

/** It serves files from its own folder. */
const external = ['@fastify/swagger-ui'];

/**
 * Bundles the program of each service with all that it imports into `folder`/SERVICE/main.mjs (docs/decisions/0017). Names and lines stay readable in stack traces.
 *
 * Errors: a module that is missing, or can not be read.
 */
export async function build(folder: string): Promise<void> {
  // Loaded where it is needed: it is a program of its own.
  const { rolldown } = await import('rolldown');
  const buildOne = async (service: string) => {
    const sources = join(root, 'services', service, 'src');
    const bundle = await rolldown({
      input: join(sources, 'main.ts'),
      platform: 'node',
      external,
      plugins: [asciiOnly],
      logLevel: 'warn',
    });
    // The ending says that it is a module, wherever it lies.
    const names = { entryFileNames: '[name].mjs', chunkFileNames: '[name]-[hash].mjs' };
    await bundle.write({ dir: join(folder, service), format: 'esm', comments: false, ...names });
    await bundle.close();
  };
  await Promise.all(services.map(({ name }) => buildOne(name)));
}

/** The program of a service, in a folder of builds. */
export function programIn(folder: string, service: string): string {
  return join(folder, service, 'main.mjs');
}

let building: Promise<string> | undefined;

/** Answers a folder with the services built from the sources as they are now; they are built if that was not done yet. */
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
      // A file that was saved meanwhile may be in it, or not.
      if (hashOfSources() !== hash) return await buildRecent();
      renameSync(unfinished, folder);
    } catch (error) {
      // Another may have built the same meanwhile.
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
      ...['package-lock.json', 'tsconfig*.json', 'tools/dev/build.ts'],
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
    if (usedAt < Date.now() - keptMs) rmSync(folder, { recursive: true, force: true });
  }
}
