import type { ServerResponse } from 'node:http';
import { ConfigurationService } from '@ticketing/contracts/ticketing/settings/v1/configuration_service_pb.ts';
import type { RunningService } from '@ticketing/service-kit/lifecycle/compose-service.ts';
import { holdTimer } from '@ticketing/testkit/held-timer.ts';
import { type StubServer, startStubServer } from '@ticketing/testkit/stub-server.ts';
import { turns } from '@ticketing/testkit/turns.ts';
import { afterAll, beforeAll, beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest';
import { startHarness, type TicketsHarness } from '../../../test/harness.ts';
import { type StubErp, startStubErp } from '../../../test/stub-erp.ts';
import { defaultSettings, type TicketSettings } from '../../settings.ts';

let erp: StubErp;
let settingsService: StubServer;
let tickets: TicketsHarness;
let token: string;
let settings: TicketSettings;

beforeAll(async () => {
  erp = await startStubErp();
  settingsService = await startStubServer(({ service }) => {
    service(ConfigurationService, { getSecrets: async () => ({ secrets: { erpToken: token } }) });
  });
  tickets = await startHarness({
    calledPorts: { grpc: settingsService.port },
    settings: async () => settings,
    variables: { ERP_WAIT_MS: '10000', ERP_TIMEOUT_MS: '2000', ERP_PAUSE_MS: '30000' },
  });
});
beforeEach(async () => {
  token = 'first';
  // A new version also closes the circuit that an earlier test has opened.
  settings = { ...defaultSettings, erpAdapter: 'http', erpBaseUrl: erp.url, version: (settings?.version ?? 0) + 1 };
  erp.release();
  erp.customers = [ada];
  await responses().deleteMany({});
  erp.calls = [];
  erp.tokens = [];
});
afterAll(async () => {
  erp.release();
  await tickets.stop();
  await settingsService.stop();
  await erp.stop();
});

const ada = {
  id: 'K/1',
  lastname: 'Grünwald',
  email: 'ada@example.org',
  company: null,
  unknownMember: [1],
  contracts: [{ id: 'V-7001', customerId: 'K/1', startDate: '2024-01-31', rawData: { meter: 7 } }],
};
/** How long a ticket waits for a slow ERP system. */
const waitMs = 700;
const machine = { kind: 'serviceWorker', profileId: 90 } as const;
type StoredResponse = { _id: string; expiresAt: Date; ticketIds?: number[] };
const responses = () => tickets.database.collection<StoredResponse>('erpResponses');
const post = async (body: object = {}) =>
  (await tickets.request('POST', '/ticket', { caller: machine, body: { channel: 'email', ...body } })).json;
const read = async (id: number, query = '', url = tickets.url) =>
  (await tickets.request('GET', `/ticket/${id}${query}`, { url })).json;
const search = (query: string) => tickets.request('GET', `/erp/customers?${query}`);
/** Stops the clock until the test ends. Returns its time. Units: ms. */
function stopClock(): number {
  const now = Date.now();
  vi.useFakeTimers({ toFake: ['Date'], now });
  onTestFinished(() => void vi.useRealTimers());
  return now;
}
/** A ticket with a customer and a contract, of which no response is kept. */
async function ticketOfAda(): Promise<number> {
  const { id, customerId } = await post({ from: 'ada@example.org' });
  expect(customerId).toBe('K/1');
  await responses().deleteMany({});
  erp.calls = [];
  return id;
}

describe('the requests to the ERP system', () => {
  test('are those that docs/services/erp.md describes, with the token', async () => {
    const { id } = await post({ from: 'ada@example.org', subject: 'V-7001' });
    await responses().deleteMany({});
    await read(id);
    await read(id, '?refresh=true');
    await search('q=Gr&limit=5');
    expect(erp.calls).toEqual([
      'POST /erp/customers/match {"ids":["V-7001","7001"],"email":"ada@example.org","limit":20}',
      'GET /erp/customers/K%2F1',
      'GET /erp/contracts/V-7001',
      'GET /erp/customers/K%2F1',
      'POST /erp/customers/search {"q":"Gr","limit":5,"offset":0}',
    ]);
    expect(new Set(erp.tokens)).toEqual(new Set(['Bearer first']));
  });

  test('use a new token and a new address as soon as the settings have changed', async () => {
    await search('q=1');
    token = 'second';
    settings = { ...settings, version: settings.version + 1 };
    await search('q=2');
    settings = { ...settings, erpBaseUrl: null, version: settings.version + 1 };
    expect((await search('q=3')).json.code).toBe('erp_unavailable');
    settings = { ...settings, erpAdapter: 'embedded', version: settings.version + 1 };
    expect((await search('q=4')).json.total).toBe(0);
    expect(erp.tokens).toEqual(['Bearer first', 'Bearer second']);
  });

  test.each(['..', '.', 'a/../..', '%2e%2e'])('never leave the endpoint, whatever the id: %s', async (contractId) => {
    const { id } = await post({ channel: 'phone', contractId });
    await read(id, '?refresh=true');
    expect(erp.calls.every((call) => /^GET \/erp\/contracts\/[^/.]/.test(call))).toBe(true);
  });
});

describe('a response', () => {
  test('is kept, and used by all replicas, also for the compact form', async () => {
    const id = await ticketOfAda();
    const first = await read(id);
    expect(first.customer).toMatchObject({ id: 'K/1', company: null, emailMatches: true });
    expect(first.customer.contracts).toEqual([
      expect.objectContaining({ id: 'V-7001', startDate: '2024-01-31 00:00:00', rawData: { meter: 7 } }),
    ]);
    const other = await tickets.startInstance();
    expect(await read(id, '', `http://127.0.0.1:${other.ports.http}`)).toMatchObject({ customer: first.customer });
    await other.stop();
    await tickets.request('POST', '/ticket/search', { body: {} });
    await tickets.request('PATCH', `/ticket/${id}`, { body: { status: 'closed' } });
    expect(erp.calls).toEqual(['GET /erp/customers/K%2F1']);
  });

  test('of the detection is kept for the reads of the ticket', async () => {
    const { id } = await post({ from: 'ada@example.org' });
    expect((await read(id)).customer.id).toBe('K/1');
    expect(erp.calls).toEqual([expect.stringMatching(/match/)]);
  });

  test('is asked for anew when it has expired', async () => {
    const id = await ticketOfAda();
    const now = stopClock();
    await read(id);
    expect(await responses().findOne()).toMatchObject({ expiresAt: new Date(now + 3_600_000) });
    vi.setSystemTime(now + 3_599_999);
    await read(id);
    expect(erp.calls).toHaveLength(1);
    vi.setSystemTime(now + 3_600_000);
    await read(id);
    expect(erp.calls).toHaveLength(2);
  });

  // spec: 23.2, 23.3
  test('is read anew by refresh=true, and never by erpCacheOnly=true', async () => {
    const id = await ticketOfAda();
    expect(await read(id, '?erpCacheOnly=true')).toMatchObject({ customer: null, customerId: 'K/1' });
    expect(erp.calls).toEqual([]);
    await read(id);
    erp.customers = [{ ...ada, lastname: 'Neu', email: 'new@example.org' }];
    expect((await read(id, '?erpCacheOnly=true')).customer.lastname).toBe('Grünwald');
    const refreshed = await read(id, '?refresh=true');
    expect(refreshed).toMatchObject({ customer: { lastname: 'Neu', emailMatches: false }, customerLegitimation: 12 });
    expect((await read(id, '?refresh=true&erpCacheOnly=true')).customer.lastname).toBe('Neu');
    expect(erp.calls.filter((call) => call.startsWith('GET /erp/customers'))).toHaveLength(2);
  });

  test('that the ERP system has no such customer is kept too, for a minute', async () => {
    const id = await ticketOfAda();
    erp.customers = [];
    const now = stopClock();
    expect(await read(id)).toMatchObject({ customer: null, customerId: 'K/1' });
    expect((await read(id)).customer).toBeNull();
    expect(erp.calls).toHaveLength(1);
    expect(await responses().findOne()).toMatchObject({ expiresAt: new Date(now + 60_000) });
  });

  test('to a search is kept if it has found somebody', async () => {
    for (const query of ['q=Gr', 'q=Gr', 'q=nobody', 'q=nobody', 'q=Gr&offset=1']) await search(query);
    expect(erp.calls).toHaveLength(4);
  });

  test('that many need at once is asked for once', async () => {
    const id = await ticketOfAda();
    const all = await Promise.all(Array.from({ length: 20 }, () => read(id)));
    expect(all.every(({ customer }) => customer.id === 'K/1')).toBe(true);
    expect(erp.calls.length).toBeLessThan(5);
  });
});

describe.each<[string, () => void]>([
  [
    'does not respond',
    () => {
      erp.behaviour = 'reset';
    },
  ],
  [
    'responds with a status of 500',
    () => {
      erp.behaviour = (response) => response.writeHead(500).end('{}');
    },
  ],
  [
    'responds with something else than JSON',
    () => {
      erp.behaviour = (response) => response.end('<html>');
    },
  ],
  [
    'responds with JSON of another form',
    () => {
      erp.behaviour = (response) => response.end('{"customers":[{"id":7}],"total":1}');
    },
  ],
  [
    'responds with more than 4 MiB',
    () => {
      erp.behaviour = (response) => response.end(`{"a":"${'x'.repeat(4 * 1024 * 1024)}"}`);
    },
  ],
  [
    'redirects into a private network',
    () => {
      erp.behaviour = (response) => response.writeHead(302, { location: 'http://10.0.0.1/' }).end();
    },
  ],
  [
    'has a private address',
    () => {
      settings = { ...settings, erpBaseUrl: 'http://10.0.0.1/', version: settings.version + 1 };
    },
  ],
])('an ERP system that %s', (_, breakErp) => {
  // guarantee: F9
  test('does not keep tickets from being read, written and created', async () => {
    const id = await ticketOfAda();
    breakErp();
    expect(await read(id)).toMatchObject({ id, customer: null, customerId: 'K/1' });
    expect(await read(id, '?refresh=true')).toMatchObject({ id, customerId: 'K/1', version: 1 });
    const created = await post({ from: 'ada@example.org', subject: 'V-7001' });
    expect(created).toMatchObject({ customerId: null, contractId: null, customer: null, customerLegitimation: 0 });
    const message = { direction: 'in', from: 'x@example.org', content: { message: 'Hallo', type: 'text' } };
    const stored = await tickets.request('POST', `/ticket/${id}/conversation/store`, {
      caller: machine,
      body: message,
    });
    expect(stored.status).toBe(201);
    expect(await read(id)).toMatchObject({ customerLegitimation: 20 });
    const body = { contractId: 'V-7001' };
    const patched = (await tickets.request('PATCH', `/ticket/${id}`, { caller: machine, body })).json.ticket;
    expect(patched).toMatchObject({ customerId: 'K/1', contractId: 'V-7001', customerLegitimation: 10 });
  });

  // guarantee: F9
  test('makes the search respond with 503 and Retry-After', async () => {
    breakErp();
    const response = await search('q=a');
    expect([response.status, response.json.code]).toEqual([503, 'erp_unavailable']);
    expect(Number(response.headers.get('retry-after'))).toBeGreaterThan(0);
  });
});

describe('a slow ERP system', () => {
  let impatient: RunningService;
  let url: string;

  beforeAll(async () => {
    impatient = await tickets.startInstance({
      TICKETING_TICKETS_ERP_WAIT_MS: String(waitMs),
      TICKETING_TICKETS_ERP_TIMEOUT_MS: '20000',
    });
    url = `http://127.0.0.1:${impatient.ports.http}`;
  });
  afterAll(async () => {
    erp.release();
    await impatient.stop();
  });

  // guarantee: F9
  test.each(['', '?refresh=true'])(
    'delays a ticket until its deadline, and no longer: GET /ticket/{ticketId}%s',
    async (query) => {
      const id = await ticketOfAda();
      erp.behaviour = 'held';
      const startMs = Math.round(Date.now() - performance.timeOrigin);
      const clock = vi.spyOn(performance, 'now').mockReturnValue(startMs);
      onTestFinished(() => clock.mockRestore());
      const timer = holdTimer((ms) => ms === waitMs);
      const reading = read(id, query, url);
      const end = await timer;
      expect(await Promise.race([reading, turns(1_000).then(() => 'waits')])).toBe('waits');
      clock.mockReturnValue(startMs + waitMs);
      end();
      expect(await reading).toMatchObject({ customer: null, customerId: 'K/1' });
      // The ERP system still has time to respond, so the read has not waited for the end of its request.
      erp.release();
      await expect.poll(() => responses().countDocuments()).toBeGreaterThan(0);
    },
  );

  // guarantee: F9
  test('delays a ticket only once for all that a refresh asks', async () => {
    const id = await ticketOfAda();
    const unanswered: ServerResponse[] = [];
    // The last response would come in time if each had a wait of its own.
    erp.behaviour = (response) => {
      if (erp.calls.length < 4) unanswered.push(response);
      else setTimeout(() => response.end(JSON.stringify(ada)), waitMs / 2);
    };
    expect(await read(id, '?refresh=true', url)).toMatchObject({ customer: null, customerId: 'K/1' });
    expect(erp.calls).toEqual([
      'GET /erp/contracts/V-7001',
      'GET /erp/customers/K%2F1',
      expect.stringContaining('POST /erp/customers/match'),
      'GET /erp/customers/K%2F1',
    ]);
    // It is kept before the next test begins.
    await expect.poll(() => responses().countDocuments()).toBe(1);
    for (const response of unanswered) response.destroy();
  });

  test('has its late response kept for the next read', async () => {
    const id = await ticketOfAda();
    erp.behaviour = 'held';
    expect((await read(id, '', url)).customer).toBeNull();
    erp.release();
    await expect.poll(() => responses().countDocuments()).toBe(1);
    expect((await read(id)).customer.id).toBe('K/1');
    expect(erp.calls).toHaveLength(1);
  });

  test('makes the search fail after its own deadline', async () => {
    erp.behaviour = 'held';
    expect(await search('q=a')).toMatchObject({ status: 503 });
  });
});

describe('a change of the customer that waits for the ERP system', () => {
  test('does not take back what others have changed meanwhile', async () => {
    erp.customers = [ada, { id: 'K-2' }];
    const { id } = await post({ from: 'ada@example.org' });
    const person = (contractId: string | null) =>
      tickets.request('PATCH', `/ticket/${id}`, { body: { contractId } }).then(({ json }) => json.ticket);
    // The responses that the later change of the person needs are kept.
    await person('V-7001');
    await person(null);
    erp.calls = [];
    erp.behaviour = 'held';
    const change = { caller: machine, body: [{ id, customerId: 'K-2' }] };
    const changing = tickets.request('PATCH', '/ticket', change);
    await expect.poll(() => erp.calls.at(-1)).toBe('GET /erp/customers/K-2');
    expect(await person('V-7001')).toMatchObject({ contractId: 'V-7001', customerLegitimation: 30 });
    erp.release();
    expect((await changing).status).toBe(200);
    expect(await read(id)).toMatchObject({ customerId: 'K-2', contractId: 'V-7001', customerLegitimation: 30 });
  });

  test('is not followed by a refresh that began before', async () => {
    const id = await ticketOfAda();
    // The responses that the change needs are kept.
    await read(id, '?refresh=true');
    erp.customers = [{ ...ada, email: 'new@example.org' }];
    erp.calls = [];
    erp.behaviour = 'held';
    const refreshing = read(id, '?refresh=true');
    await expect.poll(() => erp.calls.at(-1)).toBe('GET /erp/contracts/V-7001');
    const { json } = await tickets.request('PATCH', `/ticket/${id}`, { body: { contractId: 'V-7001' } });
    expect(json.ticket.customerLegitimation).toBe(30);
    erp.release();
    await refreshing;
    expect((await read(id)).customerLegitimation).toBe(30);
  });
});

describe('after 5 failures in a row', () => {
  // guarantee: F9
  test('the ERP system is left alone for a while, and then used again', async () => {
    erp.behaviour = 'reset';
    for (let nth = 0; nth < 5; nth++) await search(`q=${nth}`);
    expect(erp.calls).toHaveLength(5);
    erp.behaviour = 'ok';
    const during = await search('q=a');
    expect([during.status, during.headers.get('retry-after')]).toEqual([503, '30']);
    expect(erp.calls).toHaveLength(5);
    vi.setSystemTime(stopClock() + 30_000);
    expect((await search('q=a')).status).toBe(200);
    expect(erp.calls).toHaveLength(6);
  });
});

describe('a deletion', () => {
  test('erases the responses that only this ticket has used', async () => {
    erp.customers = [ada, { ...ada, id: 'K-2', email: 'bob@example.net', contracts: [{ id: 'V-8' }] }];
    const first = await post({ from: 'ada@example.org' });
    const second = await post({ from: 'ada@example.org' });
    const third = await post({ from: 'bob@example.net' });
    const kept = async () => (await responses().find().toArray()).map(({ _id }) => _id.split(' ').at(-1)).sort();
    expect(await kept()).toEqual(['K-2', 'K/1']);
    const remove = (id: number) => tickets.request('DELETE', `/ticket/${id}`, { caller: { roleId: 1 } });
    await remove(third.id);
    expect(await kept()).toEqual(['K/1']);
    await remove(first.id);
    expect(await kept()).toEqual(['K/1']);
    expect((await responses().findOne({}))?.ticketIds).toEqual([second.id]);
    await remove(second.id);
    expect(await kept()).toEqual([]);
  });

  test('erases a response too that arrives after it', async () => {
    const first = await ticketOfAda();
    const second = await ticketOfAda();
    erp.behaviour = 'held';
    const reading = Promise.all([read(first), read(second, '?refresh=true')]);
    await expect.poll(() => erp.calls.length).toBe(2);
    await tickets.request('DELETE', `/ticket/${first}`, { caller: { roleId: 1 } });
    erp.release();
    await reading;
    // The response for the deleted ticket is stored for a moment.
    const users = async () => (await responses().find().toArray()).flatMap(({ ticketIds }) => ticketIds ?? []);
    await expect.poll(users).toEqual([second, second]);
  });
});
