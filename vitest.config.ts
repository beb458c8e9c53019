import { join } from 'node:path';
import { defineConfig } from 'vitest/config';

// Processes of tests are many and short: they share what Node has compiled.
process.env.NODE_COMPILE_CACHE ??= join(import.meta.dirname, 'node_modules/.cache/node');

/** Tests beside what they test: rules and parts, without a database. */
const unit = ['packages/!(embedded-mongo)/src/**', 'services/*/src/**', 'tools/**', 'bench/**', 'test/faults/**'];
/** Tests that start services, or programs. */
const integration = [
  'packages/embedded-mongo/src/**',
  '{packages,services}/*/test/**',
  'scripts/**',
  'test/e2e/**',
  'test/hostile/**',
];

/** `npm test`; in the mode "deep" (`npm run test:deep`) the files of the deep suite, in which searches have more runs. */
export default defineConfig(({ mode }) => {
  const isDeep = mode === 'deep';
  const named = (folders: readonly string[]) =>
    folders.map((folder) => `${folder}/${isDeep ? '*.deep.test.ts' : '*.test.ts'}`);
  return {
    test: {
      exclude: ['**/node_modules/**', ...(isDeep ? [] : ['**/*.deep.test.ts'])],
      env: { TICKETING_TEST_EFFORT: isDeep ? 'deep' : 'normal' },
      // By default a machine of two cores would run one file at a time, and many files wait now and then.
      maxWorkers: '100%',
      // A condition that comes late is no failure; one that never comes is.
      expect: { poll: { timeout: 10_000 } },
      testTimeout: isDeep ? 300_000 : 20_000,
      hookTimeout: 60_000,
      projects: [
        // One process for many files: starting it and loading what they share takes longer than the tests.
        { extends: true, test: { name: 'unit', include: named(unit), isolate: false, restoreMocks: true } },
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
