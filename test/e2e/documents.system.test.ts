import { spawnSync } from 'node:child_process';
import { expect, test } from 'vitest';
import { checkDocuments, runDocuments } from '../../tools/docs/documents.ts';

test('every command of README, quick start and API guide works, and responds as it is shown', async ({ skip }) => {
  const missing = ['bash', 'curl', 'npm'].find((program) => spawnSync(program, ['--version']).status !== 0);
  if (missing) skip(`${missing} is not installed`);
  const { problems, passed } = await checkDocuments(runDocuments, false);
  expect(problems).toEqual([]);
  expect(passed).toBeGreaterThan(40);
});
