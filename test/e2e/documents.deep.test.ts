import { spawnSync } from 'node:child_process';
import { expect, test } from 'vitest';
import { checkDocuments } from '../../tools/docs/documents.ts';

test('every command of README, quick start and API guide works, and responds as it is shown', async ({ skip }) => {
  const missing = ['bash', 'curl', 'npm'].find((program) => spawnSync(program, ['--version']).status !== 0);
  if (missing) skip(`${missing} is not installed`);
  const { problems, run } = await checkDocuments(false);
  expect(problems).toEqual([]);
  expect(run).toBeGreaterThan(40);
});
