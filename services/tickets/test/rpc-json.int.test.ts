import { gzipSync } from 'node:zlib';
import { largeBodyBytes } from '@ticketing/rest/limits/large-json.ts';
import { testCaller } from '@ticketing/testkit/test-identity.ts';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startHarness, type TicketsHarness } from './harness.ts';

let tickets: TicketsHarness;

beforeAll(async () => {
  tickets = await startHarness();
});
afterAll(() => tickets.stop());

/** Calls CreateTicket by the Connect protocol. */
async function createTicket(json: string, compress: boolean): Promise<[status: number, response: string]> {
  const headers = {
    authorization: `Bearer ${await tickets.identity.internalToken('tickets', testCaller())}`,
    'content-type': 'application/json',
    ...(compress ? { 'content-encoding': 'gzip' } : {}),
  };
  const body = compress ? gzipSync(json) : json;
  const url = `${tickets.url}/ticketing.tickets.v1.TicketService/CreateTicket`;
  const response = await fetch(url, { method: 'POST', headers, body });
  return [response.status, await response.text()];
}

test.each([false, true])(
  'large JSON of an RPC is checked elsewhere, and read like small JSON (gzip: %s)',
  async (compress) => {
    for (const size of [10, largeBodyBytes]) {
      const body = '"\\\n'.repeat(size);
      const [status, response] = await createTicket(JSON.stringify({ channel: 'CHANNEL_LETTER', body }), compress);
      expect([status, JSON.parse(response).ticket.body === body]).toEqual([200, true]);
      const twice = `{"channel":"CHANNEL_LETTER","body":"","body":"${'x'.repeat(size)}"}`;
      const [refusal, problem] = await createTicket(twice, compress);
      expect([refusal, JSON.parse(problem)]).toMatchObject([400, { code: 'invalid_argument' }]);
      expect(problem).toContain('#/body: is given more than once');
    }
  },
);
