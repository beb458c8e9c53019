import { matchesGlob } from 'node:path';

/** Test files that run together, as vitest.config.ts names them. */
interface TestProject {
  name: string;
  include: readonly string[];
  exclude?: readonly string[];
}

/**
 * Finds test files that are in no project of `npm test` and no part of `npm run accept`, or in several, and patterns of files that
 * do not exist: a sentence each. A part may run files of `npm test` again, and the part "containers" those of others.
 */
export function findMisplaced(
  files: readonly string[],
  parts: Readonly<Record<string, readonly TestProject[]>>,
): string[] {
  const { test = [], containers = [], ...others } = parts;
  const projects = Object.values(others).flat();
  const misplaced = files.flatMap((file) => {
    const isIn = ({ include, exclude = [] }: TestProject) =>
      include.some((pattern) => matchesGlob(file, pattern)) && !exclude.some((pattern) => matchesGlob(file, pattern));
    const inTest = test.filter(isIn);
    const found = inTest.length > 0 ? inTest : projects.filter(isIn);
    if (found.length === 1) return [];
    return [`${file} is in ${found.map(({ name }) => name).join(' and in ') || 'no part'}.`];
  });
  const patterns = [...test, ...containers, ...projects].flatMap(({ include }) => include.flatMap(toAlternatives));
  const unused = [...new Set(patterns)].filter((pattern) => !files.some((file) => matchesGlob(file, pattern)));
  return [...misplaced, ...unused.map((pattern) => `${pattern} is no test file.`)];
}

/** Returns the patterns without braces that one with braces stands for. */
function toAlternatives(pattern: string): string[] {
  const [braces, names] = /\{([^{}]*)\}/.exec(pattern) ?? [];
  if (braces === undefined || names === undefined) return [pattern];
  return names.split(',').flatMap((name) => toAlternatives(pattern.replace(braces, name)));
}
