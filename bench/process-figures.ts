import { readdirSync, readFileSync } from 'node:fs';

const ticksPerSecond = 100;

/** The CPU time that processes have used, user and system, in seconds. */
export function readCpuSeconds(pids: readonly number[]): number {
  const ticks = pids.map((pid) => {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    return Number(fields[11]) + Number(fields[12]);
  });
  return ticks.reduce((sum, one) => sum + one, 0) / ticksPerSecond;
}

/** The resident memory of a process, in bytes. */
export function readResidentBytes(pid: number): number {
  const kilobytes = /^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1];
  return Number(kilobytes) * 1024;
}

/** The descendants of a process, with their command lines and their environment. */
export function descendantsOf(pid: number): { pid: number; command: string; environment: Map<string, string> }[] {
  const children = readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .flatMap((name) => {
      try {
        const parent = /^PPid:\s+(\d+)$/m.exec(readFileSync(`/proc/${name}/status`, 'utf8'))?.[1];
        return Number(parent) === pid ? [Number(name)] : [];
      } catch {
        // It has ended meanwhile.
        return [];
      }
    });
  return children.flatMap((child) => [describe(child), ...descendantsOf(child)]);
}

function describe(pid: number) {
  const read = (name: string) => readFileSync(`/proc/${pid}/${name}`, 'utf8').split('\0');
  const pairs = read('environ').map((pair): [string, string] => {
    const end = pair.indexOf('=');
    return [pair.slice(0, end), pair.slice(end + 1)];
  });
  return { pid, command: read('cmdline').join(' '), environment: new Map(pairs) };
}
