/** Patterns by which the speed of the machine, or chance, decides a test, each with advice what to write instead. */
const patterns: readonly { pattern: RegExp; advice: string }[] = [
  {
    pattern:
      /\b(?:findLeast|measure(?:Cpu)?Ms|measureLongestWork|monitorEventLoopDelay|eventLoopUtilization|memoryUsage|(?:threadC|c)puUsage|hrtime)\b/,
    advice: 'measures the machine: use packages/testkit/src/machine-limits.ts, or move the test to x.timed.test.ts',
  },
  // The clock of performance has no other use in a test.
  {
    pattern: /\bperformance\.now\(\)/,
    advice: 'measures time: compare results and counts, or use a clock of the test',
  },
  {
    pattern: /\bDate\.now\(\) - \w*(?:At|[Bb]efore|[Bb]egan|[Ss]tart\w*)\b/,
    advice: 'measures time: compare results and counts, or use a clock of the test',
  },
  {
    pattern: /\b(?:await|return) (?:setTimeout|sleep|delay)\(|\bawait new Promise\(\(\w*\) => (?:void )?setTimeout\(/,
    advice: 'waits for a time: wait for a condition (expect.poll), or for turns of the event loop',
  },
  {
    // Times below those of vitest.config.ts: 30 s for a condition, 120 s for a test.
    pattern: /\btimeout: (?:\d{1,4}|[12]?\d_\d{3})\b|^\s*\}, (?:\d{4,5}|\d{1,2}_\d{3})\);|\{ retry: \d/,
    advice: 'has a shorter time than the common one, or attempts of its own: leave it out',
  },
  {
    pattern: /\bMath\.random\(\)/,
    advice: 'is chance that does not come again: use the seed of packages/testkit/src/seed.ts',
  },
];

/** Finds the lines of a test file of `npm test` whose verdict would depend on the machine or on chance: a sentence each. */
export function findMachineChecks(file: string, text: string): string[] {
  return text.split('\n').flatMap((line, index) => {
    const code = line.replace(/^\s*(?:\/\/|\*|\/\*).*/, '');
    return patterns.flatMap(({ pattern, advice }) => {
      const [found] = pattern.exec(code) ?? [];
      return found === undefined ? [] : [`${file}:${index + 1}: "${found}" ${advice}.`];
    });
  });
}
