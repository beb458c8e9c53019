/** What decides whether the engine's binaries run here; `glibc` is undefined on systems without it. */
export interface Platform {
  readonly os: string;
  readonly arch: string;
  readonly glibc: string | undefined;
}

const oldestGlibc = 36;
const nativeGlibc = 38;

export function currentPlatform(): Platform {
  return { os: process.platform, arch: process.arch, glibc: process.platform === 'linux' ? glibcVersion() : undefined };
}

/** Says in one sentence why the engine cannot run on a platform, or undefined if it can. */
export function unsupportedReason({ os, arch, glibc }: Platform): string | undefined {
  const binariesExist =
    (os === 'linux' && (arch === 'x64' || arch === 'arm64') && glibc !== undefined) ||
    (os === 'darwin' && arch === 'arm64');
  if (!binariesExist) {
    return `The embedded MongoDB does not exist for ${os} ${arch}${os === 'linux' && !glibc ? ' without glibc' : ''}: set MONGODB_URI to a MongoDB server.`;
  }
  if (glibc !== undefined && glibcMinor(glibc) < oldestGlibc) {
    return `The embedded MongoDB needs glibc 2.${oldestGlibc} or newer and this system has ${glibc}: set MONGODB_URI to a MongoDB server.`;
  }
  return undefined;
}

/** Says whether the binaries must be patched before the dynamic loader of this platform takes them. */
export function needsGlibcPatch({ glibc }: Platform): boolean {
  return glibc !== undefined && glibcMinor(glibc) < nativeGlibc;
}

function glibcMinor(version: string): number {
  const [major, minor] = version.split('.').map(Number);
  return major === 2 ? (minor ?? 0) : Number.POSITIVE_INFINITY;
}

function glibcVersion(): string | undefined {
  const report: unknown = process.report.getReport();
  if (typeof report !== 'object' || report === null || !('header' in report)) return undefined;
  const { header } = report;
  if (typeof header !== 'object' || header === null || !('glibcVersionRuntime' in header)) return undefined;
  return typeof header.glibcVersionRuntime === 'string' ? header.glibcVersionRuntime : undefined;
}
