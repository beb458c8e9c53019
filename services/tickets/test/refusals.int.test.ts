import { testCaller } from '@ticketing/testkit/test-identity.ts';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { startHarness, type TicketsHarness } from './harness.ts';

let tickets: TicketsHarness;
beforeAll(async () => {
  tickets = await startHarness();
});
afterAll(() => tickets.stop());

const rpcs = '/ticketing.tickets.v1.TicketService';

test.each([
  ['REST', 'DELETE', '/ticket/1', 'DELETE /ticket/:ticketId'],
  ['RPC', 'POST', `${rpcs}/DeleteTicket`, 'rpc ticketing.tickets.v1.TicketService.DeleteTicket'],
])(
  // asvs: 16.2.1, 16.3.2
  'each refusal over %s is logged with its reason and caller, without the token and the address of the request',
  async (_, method, path, route) => {
    const info = vi.spyOn(tickets.running.log, 'info');
    const token = await tickets.identity.internalToken(
      'tickets',
      testCaller({ kind: 'user', profileId: 77, roleId: 2 }),
    );
    const statusWith = async (authorization: string) => {
      const headers = { authorization, 'content-type': 'application/json' };
      const body = method === 'POST' ? '{}' : null;
      return (await fetch(`${tickets.url}${path}?secret=7`, { method, headers, body })).status;
    };
    expect(await statusWith('Bearer x.y.z')).toBe(401);
    expect(await statusWith(`Bearer ${token}`)).toBe(403);
    const refusals = info.mock.calls
      .filter(([, message]) => message === 'a request was refused')
      .map(([fields]) => fields);
    info.mockRestore();
    const common = { route, address: '127.0.0.1', traceId: expect.stringMatching(/^[0-9a-f]{32}$/) };
    expect(refusals).toEqual([
      { ...common, reason: 'invalid_token' },
      { ...common, reason: 'missing_right', caller: 'user 77' },
    ]);
  },
);

test.each([
  ['REST, which the gateway calls, is that of the client if the token is valid', 'DELETE', '/ticket/1', '203.0.113.7'],
  ['RPC is that of the peer', 'POST', `${rpcs}/DeleteTicket`, '127.0.0.1'],
  // asvs: 15.3.4
])('the logged address of a request over %s', async (_, method, path, addressOfValid) => {
  const info = vi.spyOn(tickets.running.log, 'info');
  const valid = await tickets.identity.internalToken('tickets', testCaller({ profileId: 78, roleId: 2 }));
  for (const token of ['x.y.z', valid]) {
    const headers = {
      authorization: `Bearer ${token}`,
      'content-type': 'application/json',
      'x-forwarded-for': '203.0.113.7',
    };
    const response = await fetch(`${tickets.url}${path}`, { method, headers, body: method === 'POST' ? '{}' : null });
    await response.arrayBuffer();
  }
  const refusals = info.mock.calls
    .filter(([, message]) => message === 'a request was refused')
    .map(([fields]) => fields);
  info.mockRestore();
  expect(refusals).toMatchObject([
    { reason: 'invalid_token', address: '127.0.0.1' },
    { reason: 'missing_right', address: addressOfValid },
  ]);
});
