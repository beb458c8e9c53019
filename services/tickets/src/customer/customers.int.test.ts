import { violationsOf } from '@ticketing/testkit/violations-of.ts';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startHarness, type TicketsHarness } from '../../test/harness.ts';

let tickets: TicketsHarness;
let vip: number;
let oldTag: number;

beforeAll(async () => {
  tickets = await startHarness();
  vip = await createTag('VIP');
  oldTag = await createTag('Old');
  const [status] = await importCustomers([{ ...ada, tagIds: [vip] }, bob, ...twins]);
  expect(status).toBe(200);
});
afterAll(() => tickets.stop());

const admin = { roleId: 1 };
const machine = { kind: 'serviceWorker', profileId: 90 } as const;

const ada = {
  id: 'K-1001',
  firstname: 'Ada',
  lastname: 'Grünwald',
  email: 'Ada@example.org',
  phone: '+49 30 12345',
  address: 'Musterstraße 1a',
  zip: '10115',
  city: 'Berlin',
  additionalData: { segment: 'A' },
  contracts: [
    {
      id: 'V-7001',
      status: 'active',
      startDate: '2024-01-31T00:00:00Z',
      productName: 'Strom',
      zip: '10117',
      email: 'ada.strom@example.org',
      rawData: { meter: 7 },
    },
    { id: 'V-7002', status: 'ended' },
  ],
};
const bob = {
  id: 'K-2002',
  business: true,
  company: 'Böb GmbH',
  email: 'bob@example.net',
  contracts: [{ id: 'V-8001' }],
};
const twins = ['K-3001', 'K-3002'].map((id) => ({ id, lastname: 'Zwilling', email: 'twin@example.org' }));

async function createTag(name: string): Promise<number> {
  return (await tickets.request('POST', '/tag', { caller: admin, body: { name } })).json.id;
}

const importCustomers = (customers: object[], caller: object = admin) =>
  tickets.rpc('CustomerService/ImportCustomers', { customers }, caller);

const search = (query: string) => tickets.request('GET', `/erp/customers?${query}`);
const idsOf = async (query: string) => (await search(query)).json.customers.map(({ id }: { id: string }) => id);
const post = async (body: object, caller: object = machine) =>
  (await tickets.request('POST', '/ticket', { caller, body: { channel: 'email', ...body } })).json;
const read = async (id: number, query = '') => (await tickets.request('GET', `/ticket/${id}${query}`)).json;
const patch = async (id: number, body: object, caller: object = machine) =>
  (await tickets.request('PATCH', `/ticket/${id}`, { caller, body })).json.ticket;
const bulk = (body: object, caller: object = machine) => tickets.request('PATCH', '/ticket', { caller, body: [body] });
const listed = async (id: number) => {
  const filters = [{ key: 't.id', comparator: '=', value: id }];
  return (await tickets.request('POST', '/ticket/search', { body: { filters } })).json.tickets[0];
};

describe('GET /erp/customers', () => {
  // spec: 2.13, 16.3, 36.4
  test('returns customers with contracts and tags, in the form of the contract', async () => {
    const { status, json } = await search('customerId=k-1001');
    expect(status).toBe(200);
    expect(json).toEqual({
      customers: [
        {
          id: 'K-1001',
          business: false,
          company: null,
          firstname: 'Ada',
          lastname: 'Grünwald',
          email: 'Ada@example.org',
          phone: '+49 30 12345',
          address: 'Musterstraße 1a',
          zip: '10115',
          city: 'Berlin',
          tags: [expect.objectContaining({ id: vip, name: 'VIP' })],
          tagIds: [vip],
          contracts: [
            {
              id: 'V-7001',
              customerId: 'K-1001',
              status: 'active',
              startDate: '2024-01-31 00:00:00',
              endDate: null,
              productName: 'Strom',
              zip: '10117',
              email: 'ada.strom@example.org',
              additionalData: null,
              rawData: { meter: 7 },
            },
            expect.objectContaining({ id: 'V-7002', status: 'ended', rawData: null }),
          ],
          emailMatches: null,
          additionalData: { segment: 'A' },
        },
      ],
      total: 1,
      offset: 0,
      limit: 10,
    });
  });

  test.each([
    ['q=gr%C3%BCn', ['K-1001']],
    ['q=GRUNWALD+ada', ['K-1001']],
    ['q=berlin+musterstrasse', ['K-1001']],
    ['q=v-7002', ['K-1001']],
    ['q=b%C3%B6b', ['K-2002']],
    ['q=zwilling', ['K-3001', 'K-3002']],
    ['q=grun+bob', []],
    ['q=%25', []],
    ['q=.*', []],
    ['contractId=v-8001', ['K-2002']],
    ['email=ADA%40EXAMPLE.ORG', ['K-1001']],
    ['email=ada.strom%40example.org', ['K-1001']],
    ['phone=0049%20(30)%20123-45', ['K-1001']],
    ['phone=tel:%2B49-30-12345', ['K-1001']],
    ['phone=%2B49%20(0)30%2012345', ['K-1001']],
    ['phone=%2B43%2030%2012345', []],
    ['q=%2B49%2030%2012345', ['K-1001']],
    ['q=grunw', ['K-1001']],
    ['q=gruenwald', ['K-1001']],
    ['firstname=ADA', ['K-1001']],
    ['firstname=Ad', []],
    ['lastname=grunwald', ['K-1001']],
    ['zip=10115', ['K-1001']],
    ['zip=10117', ['K-1001']],
    ['lastname=zwilling&email=twin%40example.org', ['K-3001', 'K-3002']],
    ['lastname=zwilling&zip=10115', []],
    ['customerId=K-9', []],
  ])('%s finds %s', async (query, ids) => {
    expect(await idsOf(query)).toEqual(ids);
  });

  test('returns pages in the order of ids', async () => {
    const { json } = await search('q=zwilling&limit=1&offset=1');
    expect([json.customers[0].id, json.total, json.offset, json.limit]).toEqual(['K-3002', 2, 1, 1]);
    expect((await search('q=zwilling&offset=2')).json).toMatchObject({ customers: [], total: 2 });
  });

  test('requires q or another field, and a limit of 1 to 100', async () => {
    expect(violationsOf(await search('limit=5'))).toEqual(['#/query/q required']);
    expect((await search('q=a&limit=100')).status).toBe(200);
    for (const limit of [0, 101])
      expect(violationsOf(await search(`q=a&limit=${limit}`))[0]).toBe('#/query/limit out_of_range');
  });
});

describe('an import', () => {
  test('requires the right updateClientSettings', async () => {
    expect((await importCustomers([bob], {}))[0]).toBe(403);
    expect((await importCustomers([bob], { permissions: ['updateClientSettings'] }))[0]).toBe(200);
  });

  test('adds customers and contracts, and changes what is given of those that are there', async () => {
    const one = { id: 'I-1', lastname: 'Alt', contracts: [{ id: 'W-1' }, { id: 'W-2' }] };
    expect(await importCustomers([one, bob])).toEqual([200, { created: 1, unchanged: 1 }]);
    const changed = { id: 'I-1', business: true, lastname: 'Neu', contracts: [{ id: 'W-2', zip: '1' }, { id: 'W-3' }] };
    expect(await importCustomers([changed])).toEqual([200, { updated: 1 }]);
    expect(await importCustomers([changed])).toEqual([200, { unchanged: 1 }]);
    expect(await importCustomers([one])).toEqual([200, { updated: 1 }]);
    expect(await Promise.all(['contractId=W-1', 'lastname=neu'].map(idsOf))).toEqual([['I-1'], []]);
    const [customer] = (await search('customerId=I-1')).json.customers;
    expect(customer).toMatchObject({ business: true, lastname: 'Alt' });
    expect(customer.contracts).toMatchObject([{ id: 'W-1' }, { id: 'W-2', zip: '1' }, { id: 'W-3' }]);
    await importCustomers([{ id: 'I-1', business: false }]);
    expect((await search('customerId=I-1')).json.customers[0].business).toBe(false);
  });

  test('of the same customer in several processes at once loses no contract', async () => {
    const parts = Array.from({ length: 20 }, (_, index) => ({ id: 'P-1', contracts: [{ id: `P-${index + 10}` }] }));
    const outcomes = await Promise.all(parts.map((part) => importCustomers([part])));
    expect(outcomes.every(([status]) => status === 200)).toBe(true);
    expect((await search('customerId=P-1')).json.customers[0].contracts).toHaveLength(20);
  });

  test.each([
    ['an id that is missing', [{ lastname: 'a' }], '#/customers/0/id'],
    ['an id of 51 characters', [{ id: 'x'.repeat(51) }], '#/customers/0/id'],
    ['the same id twice', [{ id: 'D-1' }, { id: 'D-1' }], '#/customers/1/id'],
    ['the same contract twice', [{ id: 'D-1', contracts: [{ id: 'a' }, { id: 'a' }] }], '#/customers/0/contracts/1/id'],
    ['a contract of another customer', [{ id: 'D-1', contracts: [{ id: 'a', customerId: 'b' }] }], 'customerId'],
    ['an unknown tag', [{ id: 'D-1', tagIds: [99_999] }], '#/customers/0/tagIds/0'],
    ['a name of 321 characters', [{ id: 'D-1', lastname: 'x'.repeat(321) }], '#/customers/0/lastname'],
  ])('refuses %s, and imports nothing of the request', async (_, customers, pointer) => {
    const [status, problem] = await importCustomers([{ id: 'D-0' }, ...customers].slice(-customers.length));
    expect([status, problem.code]).toEqual([400, 'invalid_argument']);
    expect(problem.message).toContain(pointer);
    expect(await idsOf('customerId=D-1')).toEqual([]);
  });

  test('takes customers of at most 256 KiB', async () => {
    const bytes = (length: number) => ({ id: 'B-1', additionalData: { a: 'x'.repeat(60_000), b: 'y'.repeat(length) } });
    const contracts = Array.from({ length: 4 }, (_, index) => ({
      id: `B${index}`,
      rawData: { a: 'x'.repeat(60_000) },
    }));
    expect((await importCustomers([{ ...bytes(0), contracts: contracts.slice(1) }]))[0]).toBe(200);
    expect(await importCustomers([{ ...bytes(0), contracts }])).toMatchObject([400, { message: /more than 262144/ }]);
  });
});

describe('a new ticket', () => {
  // spec: 2.4, 6.44, 21.19
  test('gets the customer and the contract that its text names', async () => {
    const ticket = await post({ from: 'x@example.com', subject: 'Vertrag v-7002', body: '<p>Kunde <b>K-1001</b></p>' });
    expect(ticket).toMatchObject({ customerId: 'K-1001', contractId: 'V-7002', customerLegitimation: 15 });
    expect(ticket.customerLegitimationMessage).toMatch(/contains the ids of the customer and the contract/);
    expect(ticket.customer).toMatchObject({ id: 'K-1001', emailMatches: false, tagIds: [vip] });
    expect((await read(ticket.id)).customer).toEqual(ticket.customer);
    expect((await listed(ticket.id)).customer).toEqual({ tagIds: [vip], tags: [expect.objectContaining({ id: vip })] });
    const [event, ...others] = (await tickets.documentOf(ticket.id)).outbox;
    expect(others).toEqual([]);
    expect(event.changes).toContainEqual({ field: 'customerId', oldValue: null, newValue: 'K-1001' });
    expect(event.changes).toContainEqual({ field: 'contractId', oldValue: null, newValue: 'V-7002' });
    expect(event.changes).toContainEqual({ field: 'customerLegitimation', oldValue: 0, newValue: 15 });
  });

  // spec: 6.43, 6.63
  test('gets the customer of its sender, and the contract with that address', async () => {
    const ofContract = await post({ from: 'ADA.strom@example.org' });
    expect(ofContract).toMatchObject({ customerId: 'K-1001', contractId: 'V-7001', customerLegitimation: 20 });
    const ofCustomer = await post({ from: 'ada@example.org' });
    expect(ofCustomer).toMatchObject({ customerId: 'K-1001', contractId: null, customerLegitimation: 0 });
    expect(ofCustomer.customer.emailMatches).toBe(true);
    expect(ofCustomer).not.toHaveProperty('customerLegitimationMessage');
    const onlyContract = await post({ from: 'bob@example.net' });
    expect(onlyContract).toMatchObject({ customerId: 'K-2002', contractId: 'V-8001', customerLegitimation: 20 });
  });

  // spec: 6.43
  test('gets no customer if two have the address, or none has it', async () => {
    const nobody = { customerId: null, contractId: null, customer: null };
    expect(await post({ from: 'twin@example.org' })).toMatchObject({ ...nobody, customerLegitimation: 0 });
    const unknown = await post({ from: 'nobody@example.org', body: 'V-99999' });
    expect(unknown).toMatchObject({ ...nobody, customerLegitimation: 12 });
    expect(unknown.customerLegitimationMessage).toBe(
      'The e-mail address of the sender is not known in the ERP system.',
    );
    expect(await post({ channel: 'phone', from: '+49 30 12345' })).toMatchObject({
      ...nobody,
      customerLegitimation: 0,
    });
  });

  test('of a caller gets the only customer with the number, unless the message shows another', async () => {
    const phones = { 'T-1': '030/7 77 77', 'T-2': '+49 30 88888', 'T-3': '0049 (0)30 88888', 'T-4': '+43 1 5878900' };
    await importCustomers(Object.entries(phones).map(([id, phone]) => ({ id, phone, contracts: [{ id: `${id}-C` }] })));
    const call = (callerNumber: string, given = {}) => post({ channel: 'phone', callerNumber, ...given });
    const nobody = { customerId: null, contractId: null, customerLegitimation: 0 };
    expect(await call('03077777')).toMatchObject({ ...nobody, customerId: 'T-1' });
    expect(await call('0049 30 12345')).toMatchObject({ ...nobody, customerId: 'K-1001' });
    expect(await call('+49 30 88888')).toMatchObject(nobody);
    expect(await call('+49 30 99999')).toMatchObject(nobody);
    // Digits that another country has too: Kiel and Vienna.
    expect(await call('0431 5878900')).toMatchObject(nobody);
    expect(await call('+43 1 5878900')).toMatchObject({ ...nobody, customerId: 'T-4' });
    expect(await call('03077777', { body: 'V-8001' })).toMatchObject({ customerId: 'K-2002', contractId: 'V-8001' });
    expect(await call('03077777', { contractId: 'V-8001' })).toMatchObject({ customerId: 'K-2002' });
    // The message shows two, so the number does not decide.
    expect(await call('03077777', { body: 'T-2 T-3' })).toMatchObject(nobody);
    const many = Array.from({ length: 20 }, (_, nth) => ({ id: `T-9${nth}`, phone: '030 55555' }));
    await importCustomers(many);
    expect(await call('03055555')).toMatchObject(nobody);
    expect(await call('03055555', { body: 'V-8001' })).toMatchObject({ customerId: 'K-2002', contractId: 'V-8001' });
  });

  test('that mentions too many customers to compare gets none, and its sender counts as known', async () => {
    const ids = Array.from({ length: 20 }, (_, index) => `41000${index + 10}`);
    const sender = { id: 'Z-1', email: 'many@example.org' };
    await importCustomers([...ids.map((id) => ({ id })), { ...sender, contracts: [{ id: '5100001' }] }]);
    const naming = (count: number) => ({ from: sender.email, body: ['5100001', ...ids.slice(0, count)].join(' ') });
    // With the sender, 19 customers are compared, and 20 are too many.
    expect(await post(naming(18))).toMatchObject({ customerId: 'Z-1', contractId: '5100001' });
    const nobody = { customerId: null, contractId: null, customer: null };
    expect(await post(naming(19))).toMatchObject({ ...nobody, customerLegitimation: 0 });
    // The sender is not among the first 20.
    expect(await post(naming(20))).toMatchObject({ ...nobody, customerLegitimation: 0 });
    const unknown = { ...naming(20), from: 'nobody@example.org' };
    expect(await post(unknown)).toMatchObject({ ...nobody, customerLegitimation: 12 });
  });

  // spec: 6.44, 21.19
  test('keeps the contract of the request, and gets its customer', async () => {
    const ticket = await post({
      channel: 'letter',
      contractId: 'V-7001',
      body: 'Ada Grünwald, Musterstr. 1a, 10115 Berlin',
    });
    expect(ticket).toMatchObject({ customerId: 'K-1001', contractId: 'V-7001', customerLegitimation: 20 });
    expect(ticket.replyRecipients.to).toEqual(['Ada@example.org']);
    expect((await listed(ticket.id)).replyRecipients).toEqual(ticket.replyRecipients);
    const unknown = await post({ channel: 'letter', contractId: 'V-unknown' });
    expect(unknown).toMatchObject({
      customerId: null,
      contractId: 'V-unknown',
      customerLegitimation: 0,
      customer: null,
    });
  });

  test('is identified by a later message too, in the same change', async () => {
    const ticket = await post({ from: 'x@example.com', body: 'Hello' });
    expect(ticket).toMatchObject({ customerId: null, customerLegitimation: 12 });
    const body = {
      content: { message: 'My contract is V-7002, customer K-1001', type: 'text' },
      direction: 'in',
      from: 'x@example.com',
    };
    expect((await tickets.request('POST', `/ticket/${ticket.id}/conversation/store`, { body })).status).toBe(201);
    expect(await read(ticket.id)).toMatchObject({
      customerId: 'K-1001',
      contractId: 'V-7002',
      customerLegitimation: 15,
      version: 2,
    });
  });

  test('that goes out belongs to the customer with the address of its recipient', async () => {
    const ticket = await post({ direction: 'out', from: 'desk@example.com', to: ['bob@example.net'] });
    expect(ticket).toMatchObject({ customerId: 'K-2002', contractId: 'V-8001', customerLegitimation: 20 });
    expect(ticket.customer.emailMatches).toBe(false);
  });

  test('of a known external id is detected once: an update keeps what was found', async () => {
    const first = await post({ externalTicketId: 'erp-1', from: 'bob@example.net' });
    const second = await post({ externalTicketId: 'erp-1', from: 'nobody@example.org' });
    expect([second.id, second.contractId, second.customerLegitimation]).toEqual([first.id, 'V-8001', 20]);
    const third = await post({ externalTicketId: 'erp-1', contractId: 'V-7002' });
    expect(third).toMatchObject({ customerId: 'K-1001', contractId: 'V-7002', customerLegitimation: 12 });
  });
});

describe('a change of the contract', () => {
  // spec: 7.9
  test('by a person confirms the customer; by automation the score is computed anew', async () => {
    const { id } = await post({ from: 'nobody@example.org', body: 'Grünwald, V-7001', channel: 'chat' });
    expect(await patch(id, { contractId: 'V-8001' })).toMatchObject({ customerId: 'K-2002', customerLegitimation: 12 });
    const byAutomation = await patch(id, { contractId: 'V-7001' });
    expect(byAutomation).toMatchObject({ customerId: 'K-1001', customerLegitimation: 13, customer: { id: 'K-1001' } });
    expect(byAutomation.customerLegitimationMessage).toMatch(/last name/);
    const byPerson = await patch(id, { contractId: 'V-7001' }, {});
    expect(byPerson).toMatchObject({
      customerId: 'K-1001',
      customerLegitimation: 30,
      version: byAutomation.version + 1,
    });
    expect(byPerson).not.toHaveProperty('customerLegitimationMessage');
    expect(await patch(id, { contractId: 'V-8001' })).toMatchObject({ customerId: 'K-2002', customerLegitimation: 30 });
    const cleared = await patch(id, { contractId: null }, {});
    expect(cleared).toMatchObject({ customerId: 'K-2002', contractId: null, customerLegitimation: 12 });
  });

  // spec: 7.9
  test('in a bulk sets the same, unless the bulk names the score', async () => {
    const { id } = await post({ channel: 'chat' });
    await bulk({ id, contractId: 'V-7001' }, {});
    expect(await read(id)).toMatchObject({ customerId: 'K-1001', customerLegitimation: 30 });
    await bulk({ id, contractId: 'V-8001', customerLegitimation: 45 }, {});
    expect(await read(id)).toMatchObject({ customerId: 'K-2002', customerLegitimation: 45 });
    await bulk({ id, customerId: 'K-1001', contractId: 'V-7002', customerLegitimation: 5 });
    expect(await read(id)).toMatchObject({ customerId: 'K-1001', contractId: 'V-7002', customerLegitimation: 5 });
    await bulk({ id, customerId: null });
    expect(await read(id)).toMatchObject({
      ...{ customerId: null, customer: null, contractId: 'V-7002', customerLegitimation: 0 },
    });
    expect((await listed(id)).customer).toBeNull();
  });

  test('to one that the ERP system does not know keeps the customer, and counts as a contract', async () => {
    const { id } = await post({ channel: 'chat' });
    await patch(id, { contractId: 'V-7001' });
    expect((await bulk({ id, contractId: 'V-unknown' })).status).toBe(200);
    // A list shows what the change has written; a read of the ticket would bring it up to date.
    expect((await listed(id)).customer.tagIds).toEqual([vip]);
    expect(await read(id)).toMatchObject({
      ...{ customerId: 'K-1001', contractId: 'V-unknown', customerLegitimation: 10 },
    });
    const { id: other } = await post({ channel: 'chat' });
    await patch(other, { contractId: 'V-unknown' });
    expect(await read(other)).toMatchObject({ customerId: null, contractId: 'V-unknown', customerLegitimation: 0 });
  });

  test('is one change with one event', async () => {
    const { id } = await post({ channel: 'chat' });
    await patch(id, { contractId: 'V-7001' }, {});
    const { outbox, version } = await tickets.documentOf(id);
    expect([version, outbox.length]).toEqual([2, 2]);
    expect(outbox[1].changes.map(({ field }: { field: string }) => field).sort()).toEqual([
      ...['contractId', 'customerId', 'customerLegitimation'],
    ]);
  });
});

describe('an incoming message', () => {
  const store = async (id: number, message: object) => {
    const body = { direction: 'in', content: { message: 'Hallo', type: 'text' }, ...message };
    const path = `/ticket/${id}/conversation/store`;
    expect((await tickets.request('POST', path, { caller: machine, body })).status).toBe(201);
    return read(id);
  };
  const unknown = 'nobody@example.org';

  test('identifies the customer, in the change that it is part of', async () => {
    const { id } = await post({ from: unknown });
    const named = { content: { message: 'Es geht um V-7001, Kunde K-1001.', type: 'text' }, from: unknown };
    const found = { customerId: 'K-1001', contractId: 'V-7001', customerLegitimation: 15, version: 2 };
    expect(await store(id, named)).toMatchObject(found);
    const last = (await tickets.documentOf(id)).outbox.at(-1);
    expect([last.type, last.version]).toEqual(['conversation.created', 2]);
    expect(last.changes).toContainEqual({ field: 'customerLegitimation', oldValue: 12, newValue: 15 });
  });

  test('is judged by itself, and by what its sender wrote at the beginning', async () => {
    const { id } = await post({ from: unknown, subject: 'V-7001', body: 'K-1001' });
    expect(await store(id, { from: unknown })).toMatchObject({ customerLegitimation: 15 });
    expect(await store(id, { from: 'somebody@example.org' })).toMatchObject({ customerLegitimation: 12 });
    expect(await store(id, { from: 'ada@example.org' })).toMatchObject({ customerLegitimation: 20 });
  });

  test('does not change a confirmed score, nor does an outgoing one change any', async () => {
    const { id } = await post({ from: unknown, body: 'V-7001 K-1001' });
    expect(await store(id, { direction: 'out', to: [unknown] })).toMatchObject({ customerLegitimation: 15 });
    await patch(id, { contractId: 'V-7001' }, {});
    expect(await store(id, { from: unknown })).toMatchObject({ customerLegitimation: 30 });
  });
});

describe('what a list shows of a customer', () => {
  // spec: 6.18
  test('is the customer as last read through any of its tickets, without a new version', async () => {
    const customer = { id: 'L-1000', email: 'list@example.org', tagIds: [vip], contracts: [{ id: 'L-7000' }] };
    await importCustomers([customer]);
    const first = await post({ from: customer.email });
    const second = await post({ channel: 'phone', contractId: 'L-7000' });
    const tagIds = async () => [(await listed(first.id)).customer.tagIds, (await listed(second.id)).customer.tagIds];
    expect(await tagIds()).toEqual([[vip], [vip]]);
    await importCustomers([{ ...customer, email: 'new@example.org', tagIds: [oldTag, vip] }]);
    expect(await tagIds()).toEqual([[vip], [vip]]);
    expect((await read(first.id)).customer).toMatchObject({ tagIds: [oldTag, vip], emailMatches: false });
    expect(await tagIds()).toEqual([
      [oldTag, vip],
      [oldTag, vip],
    ]);
    expect((await listed(second.id)).replyRecipients.to).toEqual(['new@example.org']);
    expect([(await tickets.documentOf(second.id)).version, (await read(second.id)).version]).toEqual([1, 1]);
  });

  // spec: 6.3
  test('leaves out a tag that was deleted', async () => {
    const tagId = await createTag('Gone');
    await importCustomers([{ id: 'L-2000', email: 'gone@example.org', tagIds: [tagId] }]);
    const { id } = await post({ from: 'gone@example.org' });
    expect((await listed(id)).customer.tagIds).toEqual([tagId]);
    await tickets.request('DELETE', `/tag/${tagId}`, { caller: admin });
    expect((await listed(id)).customer).toEqual({ tagIds: [], tags: [] });
    expect((await read(id)).customer).toMatchObject({ tagIds: [], tags: [] });
  });
});

describe('GET with refresh=true', () => {
  test('finds a customer that was imported later, by a change with the cause refresh', async () => {
    const { id } = await post({ from: 'late@example.org' });
    await importCustomers([{ id: 'R-1000', email: 'late@example.org', contracts: [{ id: 'R-7000' }] }]);
    expect(await read(id)).toMatchObject({ customerId: null, customerLegitimation: 12 });
    expect(await read(id, '?refresh=true&erpCacheOnly=true')).toMatchObject({ customerId: null, version: 1 });
    const refreshed = await read(id, '?refresh=true');
    expect(refreshed).toMatchObject({
      customerId: 'R-1000',
      contractId: 'R-7000',
      customerLegitimation: 20,
      version: 2,
    });
    expect(refreshed.customer.id).toBe('R-1000');
    expect((await tickets.documentOf(id)).outbox[1]).toMatchObject({ cause: 'refresh', actor: { profileId: 7 } });
    expect(await read(id, '?refresh=true')).toMatchObject({ version: 2 });
  });

  // spec: 23.2
  test('follows a contract to another customer', async () => {
    await importCustomers([{ id: 'R-2000', contracts: [{ id: 'R-8000' }] }, { id: 'R-3000' }]);
    const { id } = await post({ channel: 'phone', contractId: 'R-8000' });
    await tickets.database.collection<{ _id: string }>('customers').deleteOne({ _id: 'R-2000' });
    await importCustomers([{ id: 'R-3000', contracts: [{ id: 'R-8000' }] }]);
    expect(await read(id)).toMatchObject({ customerId: 'R-2000', customer: null });
    expect(await read(id, '?refresh=true')).toMatchObject({ customerId: 'R-3000', contractId: 'R-8000' });
  });

  test('keeps a confirmed score', async () => {
    const { id } = await post({ channel: 'chat' });
    await patch(id, { contractId: 'V-7001' }, {});
    expect(await read(id, '?refresh=true')).toMatchObject({ customerLegitimation: 30, version: 2 });
  });
});

describe('GET /ticket/{id}/variables', () => {
  const variables = async (id: number) => (await tickets.request('GET', `/ticket/${id}/variables`)).json;

  // spec: 6.42
  test('has the customer as the ticket shows it, and the contract that the ticket names', async () => {
    const { id } = await post({ contractId: 'v-7001' });
    await bulk({ id, customerId: 'K-1001' });
    const { ticket, customer, contract } = await variables(id);
    expect(customer).toMatchObject({ id: 'K-1001', firstname: 'Ada', emailMatches: false });
    expect(customer).toEqual(ticket.customer);
    expect(contract).toEqual(customer.contracts[0]);
    expect(contract).toMatchObject({ id: 'V-7001', productName: 'Strom', startDate: '2024-01-31 00:00:00' });
  });

  test('has the contract of another customer too, and null for one that the ERP system does not have', async () => {
    const { id } = await post({});
    await bulk({ id, customerId: 'K-1001', contractId: 'V-8001' });
    expect(await variables(id)).toMatchObject({ customer: { id: 'K-1001' }, contract: { id: 'V-8001' } });
    await bulk({ id, customerId: 'K-1001', contractId: 'V-9999' });
    expect(await variables(id)).toMatchObject({ customer: { id: 'K-1001' }, contract: null });
  });
});
