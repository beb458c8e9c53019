import { globSync, readFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { defineConfig } from 'vitest/config';

// Test processes are many and short, so they share the code that Node has compiled.
process.env.NODE_COMPILE_CACHE ??= join(import.meta.dirname, 'node_modules/.cache/node');

/** Tests beside what they test: rules and parts, without a database. */
const unit = [
  'packages/!(embedded-mongo)/src/**',
  'services/*/src/**',
  'tools/!(cli|rolling)/**',
  'bench/**',
  'test/operations/**',
];
/** Tests that start services, or programs. */
const integration = [
  'packages/embedded-mongo/src/**',
  '{packages,services}/*/test/**',
  'tools/{cli,rolling}/**',
  'test/e2e/**',
  'test/hostile/**',
  'test/deploy/**',
];

/** Matches the imports of test files that have longer searches or more crashes in the deep suite. */
const EFFORT = /testkit\/(?:search-effort|crash)\.ts/;
const searches = () =>
  globSync('{packages,services,test,tools}/**/*.test.ts', {
    exclude: ['**/node_modules/**', suiteFiles],
  }).filter((file) => EFFORT.test(readFileSync(file, 'utf8')));

/** The integration tests of a service lie beside what they test. */
const integrationFiles = 'services/*/src/**/*.int.test.ts';
const suiteFiles = '**/*.{deep,deploy,timed}.test.ts';
const globalSetup = ['packages/testkit/src/global-setup.ts'];

/** The projects of vitest in each mode. Projects with a higher `groupOrder` begin when all others have ended. */
const projects = {
  deep: () => [
    { name: 'searches', include: searches(), globalSetup, maxWorkers: availableParallelism() },
    // These tests measure, or start several systems one after the other, so each runs alone on the machine.
    { name: 'deep', include: ['**/*.deep.test.ts'], globalSetup, maxWorkers: 1, sequence: { groupOrder: 1 } },
  ],
  // These tests measure, so each runs alone on the machine.
  timed: () => [{ name: 'timed', include: ['**/*.timed.test.ts'], globalSetup, maxWorkers: 1 }],
  deploy: () => [{ name: 'deploy', include: ['test/deploy/*.deploy.test.ts'], globalSetup, maxWorkers: 1 }],
  test: () => [
    { name: 'unit', include: named(unit), exclude: [suiteFiles, integrationFiles] },
    { name: 'integration', include: [...named(integration), integrationFiles], exclude: [suiteFiles], globalSetup },
  ],
};
const named = (folders: readonly string[]) => folders.map((folder) => `${folder}/*.test.ts`);

/**
 * Configures `npm test`. The mode "deep" (`npm run test:deep`) runs the deep suite: the files named `*.deep.test.ts`,
 * and all files that search, with more runs. The mode "deploy" (`npm run test:deploy`) runs the tests of `deploy/`,
 * which need a container engine and a Kubernetes control plane. The mode "timed" (`npx vitest run --mode timed`) runs the
 * files named `*.timed.test.ts`.
 */
export default defineConfig(({ mode }) => {
  const suite = mode === 'deep' || mode === 'deploy' || mode === 'timed' ? mode : 'test';
  // The seed is the same for everybody, so that a failure comes again; the deep suite searches elsewhere each time.
  process.env.TICKETING_TEST_SEED ??= suite === 'deep' ? String(Date.now() % 2 ** 31) : '4711';
  if (suite === 'deep') process.stdout.write(`TICKETING_TEST_SEED=${process.env.TICKETING_TEST_SEED}\n`);
  return {
    test: {
      exclude: ['**/node_modules/**'],
      setupFiles: ['packages/testkit/src/test-set-up.ts'],
      env: { TICKETING_TEST_EFFORT: suite === 'deep' ? 'deep' : 'normal' },
      // One process runs many files: starting it and loading shared modules takes longer than most of the tests.
      isolate: false,
      restoreMocks: true,
      unstubEnvs: true,
      // Many files wait now and then, so there is one more than the machine has processors.
      maxWorkers: availableParallelism() + 1,
      // A condition that comes late is no failure; one that never comes is.
      expect: { poll: { timeout: 30_000 } },
      // Longer than the conditions together that a test waits for.
      testTimeout: suite === 'test' ? 120_000 : 300_000,
      // A consumer of Kafka may wait for its group while it stops.
      hookTimeout: 150_000,
      projects: projects[suite]().map((project) => ({ extends: true as const, test: project })),
    },
  };
});
