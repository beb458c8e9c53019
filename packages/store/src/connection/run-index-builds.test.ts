import { expect, test } from 'vitest';
import { type IndexBuild, runIndexBuilds } from './run-index-builds.ts';

/** Makes builds of four collections, and records how many run at once, and in which order they end. */
function recordBuilds(failing: readonly string[] = []) {
  let running = 0;
  const record = { most: 0, ended: [] as string[] };
  const run = async (collection: string) => {
    running += 1;
    record.most = Math.max(record.most, running);
    // A build that fails ends first.
    for (let turn = failing.includes(collection) ? 2 : 0; turn < 3; turn++) await Promise.resolve();
    running -= 1;
    record.ended.push(collection);
    if (failing.includes(collection)) throw new Error(`no ${collection}`);
  };
  const builds = ['a', 'b', 'c', 'd'].map((collection): IndexBuild => ({ collection, run: () => run(collection) }));
  return { builds, record };
}

test.each([
  { isNew: true, most: 4 },
  { isNew: false, most: 1 },
])('builds the indexes of $most collections at once (new database: $isNew)', async ({ isNew, most }) => {
  const { builds, record } = recordBuilds();
  await runIndexBuilds(builds, isNew);
  expect(record).toEqual({ most, ended: ['a', 'b', 'c', 'd'] });
});

test.each([true, false])(
  'names every collection that failed, after all builds have ended (new database: %s)',
  async (isNew) => {
    const { builds, record } = recordBuilds(['b', 'd']);
    await expect(runIndexBuilds(builds, isNew)).rejects.toThrow(
      'The indexes of these collections cannot be built: b (no b), d (no d)',
    );
    expect(record.ended.toSorted()).toEqual(['a', 'b', 'c', 'd']);
  },
);
