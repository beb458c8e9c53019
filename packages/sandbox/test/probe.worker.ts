import { serveFunctions } from '../src/serve-functions.ts';

const functions = {
  join: (parts: readonly string[], separator: string) => ({ joined: parts.join(separator) }),
  repeat: (text: string, count: number) => text.repeat(count),
  reversed: async (bytes: Uint8Array) => ({ bytes: bytes.toReversed() }),
  async failLater(message: string) {
    await null;
    throw new Error(message);
  },
  never: () => new Promise<string>(() => undefined),
  environment: () => Object.keys(process.env),
  processId: () => process.pid,
  fail(message: string) {
    throw new Error(message);
  },
  exit: () => process.exit(3),
  spin(_text?: string) {
    for (;;);
  },
  /** Uses a processor for `ms` milliseconds. */
  work(ms: number) {
    const before = process.cpuUsage();
    for (;;) {
      const { user, system } = process.cpuUsage(before);
      if (user + system >= ms * 1000) return;
    }
  },
  backtrack: () => /^(?:a+)+$/.test(`${'a'.repeat(60)}b`),
  fillArrays() {
    const kept: unknown[] = [];
    for (;;) kept.push(new Array(1000).fill(kept.length));
  },
  fillMap() {
    const kept = new Map<number, string>();
    for (let index = 0; ; index++) kept.set(index, `${index}`);
  },
  fillText() {
    const kept: string[] = [];
    for (let index = 0; ; index++) kept.push(`${index}`.padEnd(100_000, 'x'));
  },
  oneLargeText: () => 'x'.repeat(500_000_000).replaceAll('x', 'y').length,
};

/** The functions of this worker, for tests of the sandbox. */
export type ProbeFunctions = typeof functions;

serveFunctions(functions);
