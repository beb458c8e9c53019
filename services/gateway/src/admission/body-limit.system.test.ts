import { expect, it } from 'vitest';
import { startHarness } from '../../test/harness.ts';
import { findLast } from '../../test/stub-service.ts';

// guarantee: A2
it.each([
  ['POST', '/ticket'],
  ['POST', '/%74icket'],
  ['PATCH', '/ticket/1/conversation/2'],
])('a body of %s %s is accepted at the limit of 40 MiB', async (verb, path) => {
  const harness = await startHarness();
  const body = Buffer.alloc(40 * 1024 * 1024);
  expect((await harness.call(verb, path, { body })).status).toBe(200);
  expect(findLast(harness.stub).body.length).toBe(body.length);
  await harness.stop();
});
