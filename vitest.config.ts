import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { defineConfig } from 'vitest/config';

// Processes of tests are many and short: they share what Node has compiled.
process.env.NODE_COMPILE_CACHE ??= join(import.meta.dirname, 'node_modules/.cache/node');

/** Tests beside what they test: rules and parts, without a database. */
const unit = [
  'packages/!(embedded-mongo)/src/**',
  'services/*/src/**',
  'tools/**',
  'bench/**',
  'test/faults/**',
  'test/operations/**',
];
/** Tests that start services, or programs. */
const integration = [
  'packages/embedded-mongo/src/**',
  '{packages,services}/*/test/**',
  'scripts/**',
  'test/e2e/**',
  'test/hostile/**',
  'test/rolling/**',
  'test/deploy/**',
];

/**
 * `npm test`; in the mode "deep" (`npm run test:deep`) the files of the deep suite, in which searches have more runs; in the
 * mode "deploy" (`npm run test:deploy`) the tests of what is in `deploy/`, which need a container engine and a Kubernetes
 * control plane.
 */
export default defineConfig(({ mode }) => {
  const isDeep = mode === 'deep';
  const suites = ['deep', 'deploy'];
  const suite = suites.find((one) => one === mode);
  const ending = suite ? `*.${suite}.test.ts` : '*.test.ts';
  const named = (folders: readonly string[]) => folders.map((folder) => `${folder}/${ending}`);
  return {
    test: {
      exclude: ['**/node_modules/**', ...(suite ? [] : suites.map((one) => `**/*.${one}.test.ts`))],
      env: { TICKETING_TEST_EFFORT: isDeep ? 'deep' : 'normal' },
      // One process for many files: starting it and loading what they share takes longer than most of the tests.
      isolate: false,
      restoreMocks: true,
      unstubEnvs: true,
      // By default a machine of two cores would run one file at a time, and many files wait now and then. Files of the deep
      // suite start whole systems, and measure what blocks a process: they need a machine for themselves.
      maxWorkers: suite ? Math.max(1, Math.floor(availableParallelism() / 2)) : availableParallelism() + 1,
      // A condition that comes late is no failure; one that never comes is.
      expect: { poll: { timeout: 20_000 } },
      testTimeout: suite ? 300_000 : 60_000,
      // A consumer of Kafka may wait for its group while it stops.
      hookTimeout: 150_000,
      projects: [
        { extends: true, test: { name: 'unit', include: named(unit) } },
        {
          extends: true,
          test: {
            name: 'integration',
            include: named(integration),
            globalSetup: ['packages/testkit/src/global-setup.ts'],
          },
        },
      ],
    },
  };
});
