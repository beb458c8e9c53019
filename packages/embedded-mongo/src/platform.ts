/** The properties of a system that decide whether the engine's binaries run on it. */
export interface Platform {
  readonly os: string;
  readonly arch: string;
  /** The version of glibc; undefined on systems without it. */
  readonly glibc: string | undefined;
}

/** Minor versions of glibc 2: the oldest for which the binaries can be patched, and the one that needs no patch. */
const oldestGlibcMinor = 36;
const nativeGlibcMinor = 38;

/** Returns the platform of this process. */
export function currentPlatform(): Platform {
  return { os: process.platform, arch: process.arch, glibc: process.platform === 'linux' ? glibcVersion() : undefined };
}

/** Returns the reason, in one sentence, why the engine cannot run on a platform; undefined if it can. */
export function unsupportedReason({ os, arch, glibc }: Platform): string | undefined {
  const hasBinaries =
    (os === 'linux' && (arch === 'x64' || arch === 'arm64') && glibc !== undefined) ||
    (os === 'darwin' && arch === 'arm64');
  if (!hasBinaries) {
    return `The embedded MongoDB does not exist for ${os} ${arch}${os === 'linux' && !glibc ? ' without glibc' : ''}: set MONGODB_URI to a MongoDB server.`;
  }
  if (glibc !== undefined && glibcMinor(glibc) < oldestGlibcMinor) {
    return `The embedded MongoDB needs glibc 2.${oldestGlibcMinor} or newer and this system has ${glibc}: set MONGODB_URI to a MongoDB server.`;
  }
  return undefined;
}

/** Whether the binaries must be patched so that the dynamic loader of a platform accepts them. */
export function needsGlibcPatch({ glibc }: Platform): boolean {
  return glibc !== undefined && glibcMinor(glibc) < nativeGlibcMinor;
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
