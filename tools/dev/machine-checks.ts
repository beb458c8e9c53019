import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

/** The arguments of a call, with up to four calls in one another. */
const args = Array.from({ length: 4 }).reduce<string>((inner) => `(?:[^()]|\\(${inner}\\))*`, '[^()]*');

/** The spellings by which the speed of the machine, or chance, decides a test, each group with advice what to write instead. */
const groups: readonly { spellings: readonly RegExp[]; advice: string }[] = [
  {
    spellings: [
      /\b(?:findLeast|measure(?:Ms|CpuMs|Bytes|LongestWork)|monitorEventLoopDelay|eventLoopUtilization)\b/,
      /\b(?:memoryUsage|resourceUsage|cpuUsage|threadCpuUsage|hrtime|getHeap\w*Statistics|PerformanceObserver)\b/,
    ],
    advice: 'measures the machine: use packages/testkit/src/machine-limits.ts, or move the test to x.timed.test.ts',
  },
  {
    spellings: [
      // The clock of performance has no other use in a test.
      /\bperformance\.(?:now|mark|measure)\b/,
      /\bDate\.now\(\) - \w*(?:At|[Bb]efore|[Bb]egan|[Ss]tart\w*)\b/,
      /\bexpect\([^;]*?\bDate\.now\(\)[^;]*?\.toBe(?:Less|Greater)/,
    ],
    advice: 'measures time: compare results and counts, or use a clock of the test',
  },
  {
    spellings: [
      /\b(?:await|return) (?:setTimeout|sleep|delay)\(/,
      /\bnew Promise(?:<[^>]*>)?\(\s*\(?\w*\)? =>\s*\{?\s*(?:void )?setTimeout\(/,
      // A timer that calls a variable. A method named like it is none.
      /\bsetTimeout\(\s*\w+,[^()]*\)(?! \{)/,
      /\bpromisify\(\s*setTimeout/,
      /(?<!import \{ setImmediate \} from 'node:)\btimers\/promises\b/,
    ],
    advice: 'waits for a time: wait for a condition (expect.poll), or for turns of the event loop',
  },
  {
    // Times below those of vitest.config.ts: 30 s for a condition, 120 s for a test.
    spellings: [
      /\btimeout: (?:\d{1,4}|[12]\d{4}|[12]?\d_\d{3})\b/,
      /\btimeout: (?:\d{5}|\d\d_\d{3}|1[01]\d_?\d{3})\b[^{}]*\},\s*(?:async\s*)?\(/,
      /^[ \t]*\},\s*(?:\d{3,5}|\d{1,2}_\d{3}|1[01]\d_?\d{3}),?\s*\);/,
      // Without options it waits for a second.
      new RegExp(`\\bvi\\.wait(?:For|Until)\\((?!${args},\\s*(?:\\{[^{}]*\\btimeout\\b[^{}]*\\}|[a-z]\\w*),?\\s*\\))`),
      /\bAbortSignal\.timeout\(/,
      /\{ retry: \d/,
    ],
    advice: 'has a shorter time than the common one, or attempts of its own: leave it out, or use expect.poll',
  },
  {
    spellings: [/\bMath\.random\b/],
    advice: 'is chance that does not come again: use the seed of packages/testkit/src/seed.ts',
  },
];

/** Finds where the verdict of a test of `npm test`, or of a helper, would depend on the machine or on chance: a sentence each. */
export function findMachineChecks(file: string, text: string): string[] {
  const code = text.replaceAll(/^[ \t]*(?:\/\/|\*|\/\*).*/gm, '');
  return groups.flatMap(({ spellings, advice }) => {
    const any = new RegExp(spellings.map(({ source }) => source).join('|'), 'gm');
    return [...code.matchAll(any)].map(({ 0: found, index }) => {
      const line = code.slice(0, index).split('\n').length;
      return `${file}:${line}: "${found.trim().replaceAll(/\s+/g, ' ')}" ${advice}.`;
    });
  });
}

/** Finds limits that are measured nowhere: the part "timed" runs its own test files, and those of `npm test` that import limits. */
export function findIdleLimits(file: string, text: string): string[] {
  if (!/\btestkit\/machine-limits\.ts'/.test(text)) return [];
  return [`${file}: its limits are measured nowhere: use them in x.test.ts or x.timed.test.ts.`];
}

const folders = /^(?:packages\/testkit\/src|test|(?:packages|services)\/[^/]+\/test)\/|-contract\.ts$/;
/** They measure in the part "timed" alone, replace the waits of what is tested, or use a processor for a while. */
const exempt = /^packages\/(?:testkit\/src\/(?:measure|machine-limits|skip-waits)|sandbox\/test\/probe\.worker)\.ts$/;

/** Finds the helpers that test files import, and those that these import. */
export function findHelpers(tests: readonly string[], root = '.'): string[] {
  const files = new Set(tests);
  for (const file of files) {
    const text = readFileSync(join(root, file), 'utf8');
    for (const [, path = ''] of text.matchAll(/'((?:\.\.?|@ticketing\/testkit)\/[^']+\.ts)'/g)) {
      const target = path.startsWith('.')
        ? join(dirname(file), path)
        : path.replace('@ticketing/testkit', 'packages/testkit/src');
      if (folders.test(target) && !exempt.test(target) && existsSync(join(root, target))) files.add(target);
    }
  }
  return [...files].slice(tests.length);
}
