import { afterAll, beforeAll, expect, test } from 'vitest';
import { startHarness, type TicketsHarness } from '../../test/harness.ts';

let tickets: TicketsHarness;
beforeAll(async () => {
  tickets = await startHarness();
});
afterAll(() => tickets.stop());

// spec: 40.5
test('a request that creates a ticket has at most 40 MiB', async () => {
  const mebi = 1024 * 1024;
  const padded = (bytes: number) => '{"channel":"chat"}'.padEnd(bytes, ' ');
  const post = async (body: string) => (await tickets.request('POST', '/ticket', { body })).status;
  expect(await post(padded(40 * mebi))).toBe(200);
  expect(await post(padded(40 * mebi + 1))).toBe(413);
});
