import { join } from 'node:path';
import { defineConfig } from 'vitest/config';

// Every test file has a process of its own, and so has every system that a test starts: they share compiled modules.
process.env.NODE_COMPILE_CACHE ??= join(import.meta.dirname, 'node_modules/.cache/node');

/** `npm test`; in the mode "deep" (`npm run test:deep`) the files of the deep suite, in which searches have more runs. */
export default defineConfig(({ mode }) => {
  const isDeep = mode === 'deep';
  const suffix = isDeep ? 'deep.test.ts' : 'test.ts';
  return {
    test: {
      include: [
        `packages/*/{src,test}/**/*.${suffix}`,
        `services/*/{src,test}/**/*.${suffix}`,
        `{scripts,tools}/**/*.${suffix}`,
        `bench/**/*.${suffix}`,
        `test/**/*.${suffix}`,
      ],
      exclude: ['**/node_modules/**', ...(isDeep ? [] : ['**/*.deep.test.ts'])],
      env: { TICKETING_TEST_EFFORT: isDeep ? 'deep' : 'normal' },
      globalSetup: ['packages/testkit/src/global-setup.ts'],
      // Without it a machine of two cores would run one file at a time, and most files wait now and then.
      maxWorkers: '100%',
      testTimeout: isDeep ? 300_000 : 20_000,
      hookTimeout: 60_000,
    },
  };
});
