import { readdirSync, readFileSync } from 'node:fs';

const ticksPerSecond = 100;

/**
 * The CPU time, user and system, of a process and of all that it has started, in seconds: the sandboxes of a service are
 * processes.
 */
export function readCpuSeconds(pid: number): number {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
  // The name of the program comes before and may contain spaces and brackets.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  // Its own time, and that of its children that have ended.
  const ticks = fields.slice(11, 15).reduce((sum, field) => sum + Number(field), 0);
  return findChildren(pid).reduce((sum, child) => sum + readIfRunning(child), ticks / ticksPerSecond);
}

function readIfRunning(pid: number): number {
  try {
    return readCpuSeconds(pid);
  } catch {
    // The process has ended since it was found.
    return 0;
  }
}

/** The resident memory of a process, in bytes. */
export function readResidentBytes(pid: number): number {
  const kilobytes = /^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1];
  return Number(kilobytes) * 1024;
}

/** Watches the resident memory of a process until it is stopped. Units: bytes. */
export function watchMemory(pid: number) {
  const resident = () => {
    try {
      return readResidentBytes(pid);
    } catch {
      // The service has died.
      return Number.NaN;
    }
  };
  const before = resident();
  let peak = before;
  const timer = setInterval(() => {
    peak = Math.max(peak, resident());
  }, 50);
  return {
    stop() {
      clearInterval(timer);
      return { before, peak };
    },
  };
}

/** A running process. */
export interface RunningProcess {
  pid: number;
  command: string;
  environment: Map<string, string>;
}

/** The descendants of a process. */
export function findDescendants(pid: number): RunningProcess[] {
  return findChildren(pid).flatMap((child) => [describe(child), ...findDescendants(child)]);
}

function findChildren(pid: number): number[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .filter((name) => findParent(name) === pid)
    .map(Number);
}

function findParent(pid: string): number | undefined {
  try {
    return Number(/^PPid:\s+(\d+)$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]);
  } catch {
    // The process has ended since the folder was listed.
    return undefined;
  }
}

function describe(pid: number): RunningProcess {
  const read = (name: string) => readFileSync(`/proc/${pid}/${name}`, 'utf8').split('\0');
  const pairs = read('environ').map((pair): [string, string] => {
    const end = pair.indexOf('=');
    return [pair.slice(0, end), pair.slice(end + 1)];
  });
  return { pid, command: read('cmdline').join(' '), environment: new Map(pairs) };
}
