import { golden } from '@ticketing/testkit/golden.ts';
import { runs } from '@ticketing/testkit/search-effort.ts';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startHarness, type TicketsHarness } from '../../../test/harness.ts';

let tickets: TicketsHarness;

beforeAll(async () => {
  tickets = await startHarness();
});
afterAll(() => tickets.stop());

const post = async (body: object) =>
  (await tickets.request('POST', '/ticket', { body: { channel: 'phone', ...body } })).json;
const variables = (id: number, caller = {}) => tickets.request('GET', `/ticket/${id}/variables`, { caller });

// spec: 27.2
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

// spec: 39.11
test('a ticket that does not exist is 404', async () => {
  const { status, json } = await variables(999_999);
  expect([status, json.code]).toEqual([404, 'ticket_not_found']);
});

describe('the variables for other services', () => {
  const admin = { roleId: 1 };
  const contract = { id: 'V-90', status: 'active', productName: 'Strom' };
  const nothing = { ticket: null, customer: null, contract: null, agent: null, intent: null, in: {} };
  const ada = { id: 7, firstName: 'Ada', lastName: 'Lovelace', email: 'ada@example.org' };

  const ofTemplate = async (request: object, caller = {}) => {
    const [status, json] = await tickets.rpc('TicketService/GetTemplateVariables', request, caller);
    return status === 200 ? JSON.parse(Buffer.from(json.variables, 'base64').toString('utf8')) : [status, json.code];
  };

  beforeAll(async () => {
    const customers = [{ id: 'K-90', lastname: 'Weiß', contracts: [contract] }];
    await tickets.rpc('CustomerService/ImportCustomers', { customers }, admin);
  });

  test('are those of the ticket, byte for byte as JSON writes them', async () => {
    const { id } = await post({ subject: 'Zähler 漢', body: '<b>"Hallo"</b>\u0001', contractId: 'V-90' });
    const { ticket, ...others } = await ofTemplate({ ticketId: id });
    const { json } = await variables(id);
    expect({ ticket, ...others }).toEqual(json);
    expect(others.customer).toMatchObject({ id: 'K-90' });
  });

  // Longer than the texts that are escaped and decoded without a thread; 5 MiB in the part "searches".
  test.each(['"', '漢'])('of a ticket with a long text of %s are whole', async (unit) => {
    const body = unit.repeat(Math.floor(runs(128 * 1024, 5 * 1024 * 1024) / Buffer.byteLength(unit)));
    const { id } = await post({ body });
    const { ticket } = await ofTemplate({ ticketId: id });
    expect(ticket.bodyPlain === body).toBe(true);
    expect(ticket.body === (await variables(id)).json.ticket.body).toBe(true);
  });

  test('of a contract without a ticket have the contract and the person who calls', async () => {
    const { contract: shown, ...others } = await ofTemplate({ contractId: 'V-90' });
    expect(shown).toMatchObject({ ...contract, customerId: 'K-90' });
    expect(others).toEqual({ ...omit(nothing, 'contract'), agent: ada });
    const program = { kind: 'system', profileId: 90 };
    expect(await ofTemplate({ contractId: 'V-unknown' }, program)).toEqual(nothing);
    expect(await ofTemplate({})).toEqual({ ...nothing, agent: ada });
  });

  test('may show another contract than that of the ticket', async () => {
    const { id } = await post({ contractId: 'V-91' });
    const shown = await ofTemplate({ ticketId: id, contractId: 'V-90' });
    expect(shown.ticket.contractId).toBe('V-91');
    expect(shown.contract).toMatchObject(contract);
    expect((await ofTemplate({ ticketId: id })).contract).toBeNull();
  });

  test('of a ticket that does not exist are not found', async () => {
    expect(await ofTemplate({ ticketId: 999_999 })).toEqual([404, 'not_found']);
  });
});

function omit(object: object, name: string): object {
  return Object.fromEntries(Object.entries(object).filter(([key]) => key !== name));
}
