import { golden } from '@ticketing/testkit/golden.ts';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startHarness, type TicketsHarness } from './harness.ts';

let tickets: TicketsHarness;

beforeAll(async () => {
  tickets = await startHarness();
});
afterAll(() => tickets.stop());

const post = async (body: object) =>
  (await tickets.request('POST', '/ticket', { body: { channel: 'phone', ...body } })).json;
const variables = (id: number, caller = {}) => tickets.request('GET', `/ticket/${id}/variables`, { caller });

test('the variables of a ticket are what its templates are rendered with', async () => {
  const created = await post({
    ...{ subject: 'Zähler', body: '<b>Hallo</b>', from: '+49 30 1', rawData: { secret: true }, workitem: { a: [1] } },
    ...{ createdAt: '2026-03-01 00:00:00', contractId: 'V-1' },
  });
  const { status, json } = await variables(created.id);
  expect(status).toBe(200);
  await golden('variables', json);
  const { prevTicketId, nextTicketId, sessions, ...full } = (await tickets.request('GET', `/ticket/${created.id}`))
    .json;
  expect(json.ticket).toEqual(full);
  expect(json.ticket).not.toHaveProperty('rawData');
});

test('the agent is the person who calls; for a program, the assigned agent', async () => {
  const { id } = await post({ agentId: 7 });
  const person = { profileId: 8, firstName: 'Eva', lastName: null, email: 'eva@example.org' };
  expect((await variables(id, person)).json.agent).toEqual({
    ...{ id: 8, firstName: 'Eva', lastName: null, email: 'eva@example.org' },
  });
  const program = { kind: 'system', profileId: 90, firstName: null, lastName: null, email: null };
  expect((await variables(id, program)).json.agent).toMatchObject({ id: 7, firstName: 'Ada' });
  const unassigned = await post({});
  expect((await variables(unassigned.id, program)).json.agent).toBeNull();
});

test('a ticket that does not exist is 404', async () => {
  const { status, json } = await variables(999_999);
  expect([status, json.code]).toEqual([404, 'ticket_not_found']);
});
