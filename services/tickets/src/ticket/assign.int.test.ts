import type { Caller } from '@ticketing/service-kit/identity/caller.ts';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startHarness, type TicketsHarness } from '../../test/harness.ts';
import { defaultSettings } from '../settings.ts';

let tickets: TicketsHarness;
let lastAgentRouting = true;

beforeAll(async () => {
  tickets = await startHarness({ settings: async () => ({ ...defaultSettings, lastAgentRouting }) });
});
afterAll(() => tickets.stop());

const create = async (caller: Partial<Caller>, body = {}) =>
  (await tickets.request('POST', '/ticket', { caller, body: { channel: 'phone', ...body } })).json;

describe('the assignment of a new ticket', () => {
  // spec: 6.47, 21.9, 21.25
  test('uses the agentId of the request', async () => {
    expect((await create({ kind: 'user' }, { agentId: 41 })).agentId).toBe(41);
  });
  test.each(['user', 'vendor', 'vendorPartner'] as const)(
    // spec: 6.65, 6.66, 21.26
    'assigns to the calling %s while lastAgentRouting is on',
    async (kind) => {
      const ticket = await create({ kind, profileId: 21, firstName: 'Kim', lastName: null, email: 'kim@example.com' });
      expect(ticket.agent).toEqual({ id: 21, firstName: 'Kim', lastName: null, email: 'kim@example.com' });
      expect(ticket).toMatchObject({ agentId: 21, agentIds: [21], createdBy: 21 });
    },
  );
  // spec: 21.27, 37.8
  test.each(['serviceWorker', 'codeExecutor', 'system'] as const)('never assigns to a %s', async (kind) => {
    expect((await create({ kind })).agentId).toBeNull();
  });
  // spec: 21.28
  test('leaves the ticket unassigned while the setting is off', async () => {
    lastAgentRouting = false;
    expect((await create({ kind: 'user' })).agentId).toBeNull();
    lastAgentRouting = true;
  });
  test('shows only the id of an agent who has never made a request', async () => {
    expect((await create({}, { agentId: 77 })).agent).toEqual({ id: 77, firstName: null, lastName: null, email: null });
  });
});
