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
];

/** The integration tests of a service lie beside what they test. */
const integrationFiles = 'services/*/src/**/*.int.test.ts';
/** The files of the acceptance run alone, named by their part. */
const acceptanceFiles = '**/*.{timed,searches,system,deploy}.test.ts';
const globalSetup = ['packages/testkit/src/global-setup.ts'];

/** The files of `npm test` that import a module of the testkit: a part runs them again, with longer searches or measured. */
const importing = (...modules: string[]) =>
  globSync('{packages,services,test,tools,bench}/**/*.test.ts', {
    exclude: ['**/node_modules/**', acceptanceFiles],
  }).filter((file) => new RegExp(`testkit/(?:${modules.join('|')})\\.ts'`).test(readFileSync(file, 'utf8')));

/** The files that depend on the servers themselves: stores, events, each kind of query, a file of each service that writes. */
const onRealServers = [
  'packages/{events,store}/test/*.int.test.ts',
  'services/intents/src/{execution/execution,session/sessions,learning/learning}.int.test.ts',
  'services/knowledge/src/{skill/skills,source/search,source/sources}.int.test.ts',
  'services/reporting/src/{export/export,row/projection}.int.test.ts',
  'services/settings/src/{feed/follow,setting/settings,webhook/dispatcher/dispatcher}.int.test.ts',
  'services/templates/src/template/{erasure,templates}.int.test.ts',
  'services/tickets/src/{bulk/update,message/messages,outbound-mail/mailer,queue/queue,tag/changes}.int.test.ts',
  'services/tickets/src/ticket/{any-ticket,outbox,search-filter,search-order,totals,update}.int.test.ts',
  'services/tickets/test/{idempotency,relay}.int.test.ts',
  'test/e2e/{analysis,erasure,event-contract,execution,feed,mail,message-erasure,references,settings}.system.test.ts',
  'test/e2e/system.e2e.test.ts',
];

const cores = availableParallelism();
/** The projects of each mode. A mode other than "test" is a part of `npm run accept`; see CONTRIBUTING.md. */
export const projects = {
  test: () => [
    { name: 'unit', include: named(unit), exclude: [acceptanceFiles, integrationFiles] },
    {
      name: 'integration',
      include: [...named(integration), integrationFiles],
      exclude: [acceptanceFiles],
      globalSetup,
    },
  ],
  // These tests measure, so each runs alone on the machine.
  timed: () => [
    { name: 'timed', include: ['**/*.timed.test.ts', ...importing('machine-limits')], globalSetup, maxWorkers: 1 },
  ],
  searches: () => [
    {
      name: 'searches',
      include: ['**/*.searches.test.ts', ...importing('search-effort', 'crash')],
      globalSetup,
      maxWorkers: cores,
    },
  ],
  system: () => [{ name: 'system', include: ['**/*.system.test.ts'], globalSetup, maxWorkers: cores }],
  // The servers need processor time as well.
  containers: () => [{ name: 'containers', include: onRealServers, globalSetup, maxWorkers: cores }],
  deploy: () => [{ name: 'deploy', include: ['test/deploy/*.deploy.test.ts'], globalSetup, maxWorkers: 1 }],
};
const named = (folders: readonly string[]) => folders.map((folder) => `${folder}/*.test.ts`);

/** The parts in which tests search for longer, elsewhere each time, and the part in which they measure. */
const efforts: Partial<Record<keyof typeof projects, string>> = { searches: 'deep', system: 'deep', timed: 'timed' };

const isPart = (mode: string): mode is keyof typeof projects => Object.hasOwn(projects, mode);

/** Configures `npm test`, and with `--mode PART` the parts of `npm run accept` that are tests. */
export default defineConfig(({ mode: part }) => {
  // Knip reads configurations in other modes, so knip.json names the test files instead.
  if (!isPart(part)) throw new Error(`There is no part "${part}"; the parts are ${Object.keys(projects).join(', ')}.`);
  // In `npm test` the seed is the same for everybody, so that a failure comes again.
  process.env.TICKETING_TEST_SEED ??= efforts[part] === 'deep' ? String(Date.now() % 1_000_000_000) : '4711';
  if (part !== 'test') process.stdout.write(`TICKETING_TEST_SEED=${process.env.TICKETING_TEST_SEED}\n`);
  return {
    test: {
      exclude: ['**/node_modules/**'],
      setupFiles: ['packages/testkit/src/test-set-up.ts'],
      env: { TICKETING_TEST_EFFORT: efforts[part] ?? 'normal' },
      // One process runs many files: starting it and loading shared modules takes longer than most of the tests.
      isolate: false,
      restoreMocks: true,
      unstubEnvs: true,
      // Many files wait now and then, so there is one more than the machine has processors.
      maxWorkers: cores + 1,
      // A condition that comes late is no failure; one that never comes is.
      expect: { poll: { timeout: 30_000 } },
      // Longer than the conditions together that a test waits for.
      testTimeout: part === 'test' ? 120_000 : 300_000,
      // A consumer of Kafka may wait for its group while it stops.
      hookTimeout: 150_000,
      projects: projects[part]().map((project) => ({ extends: true as const, test: project })),
    },
  };
});
