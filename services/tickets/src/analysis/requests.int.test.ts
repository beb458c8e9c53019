import { Code, ConnectError } from '@connectrpc/connect';
import {
  type AnalysisRequest,
  AnalysisService,
} from '@ticketing/contracts/ticketing/intents/v1/analysis_service_pb.ts';
import { SessionService } from '@ticketing/contracts/ticketing/intents/v1/session_service_pb.ts';
import { RefreshMode } from '@ticketing/contracts/ticketing/tickets/v1/ticket_service_pb.ts';
import { type StubServer, startStubServer } from '@ticketing/testkit/stub-server.ts';
import { afterAll, beforeAll, beforeEach, expect, onTestFinished, test, vi } from 'vitest';
import { startHarness, type TicketsHarness } from '../../test/harness.ts';
import { defaultSettings } from '../settings.ts';

let tickets: TicketsHarness;
let stub: StubServer;
/** The requests that the stub of the intents service received. */
let requested: Pick<AnalysisRequest, 'ticketId' | 'mode'>[] = [];
let isUnavailable = false;
let onRequest = async (): Promise<void> => undefined;
let analyse: (ticketId: number, timeout: string | null) => Promise<void> = async () => undefined;
const settings = { ...defaultSettings };

beforeAll(async () => {
  stub = await startStubServer((router) => {
    router.service(AnalysisService, {
      async requestAnalyses({ requests }) {
        if (isUnavailable) throw new ConnectError('unavailable', Code.Unavailable);
        requested.push(...requests);
        await onRequest();
        return {};
      },
      async analyseTicket({ ticketId }, { requestHeader }) {
        if (isUnavailable) throw new ConnectError('unavailable', Code.Unavailable);
        await analyse(ticketId, requestHeader.get('grpc-timeout'));
        return {};
      },
    });
    router.service(SessionService, { listSessions: () => ({}) });
  });
  tickets = await startHarness({
    settings: async () => settings,
    calledPorts: { grpc: stub.port },
    variables: { ROLES: 'api,scheduler' },
  });
});
afterAll(async () => {
  await tickets.stop();
  await stub.stop();
});
beforeEach(() => {
  settings.spamDetectionTagId = null;
  requested = [];
  isUnavailable = false;
  analyse = async () => undefined;
});

const post = async (query = '', body: object = {}) =>
  tickets.request('POST', `/ticket${query}`, { body: { channel: 'email', from: 'a@example.com', ...body } });
const waiting = () => tickets.database.collection('analysisRequests').countDocuments();
const refresh = async (id: number, body: object) =>
  (await tickets.request('PATCH', '/ticket', { body: [{ id, ...body }] })).status;

test('refresh flags reach the intents service, and change nothing here', async () => {
  const { id } = (await post()).json;
  for (const refreshMode of ['full', 'summaryAndText', 'tags', 'agents']) {
    expect(await refresh(id, { refreshMode })).toBe(200);
  }
  await expect.poll(waiting).toBe(0);
  const { FULL, SUMMARY_AND_TEXT, TAGS, AGENTS } = RefreshMode;
  const modes = requested.filter(({ ticketId }) => ticketId === id).map(({ mode }) => mode ?? 0);
  expect([...new Set(modes)].sort()).toEqual([FULL, SUMMARY_AND_TEXT, TAGS, AGENTS].sort());
  expect((await tickets.request('GET', `/ticket/${id}`)).json.version).toBe(1);
});

// guarantee: F30
test('requests wait while the intents service is unavailable', async () => {
  const { id } = (await post()).json;
  isUnavailable = true;
  await refresh(id, { refreshTags: true });
  expect([await waiting(), requested]).toEqual([1, []]);
  isUnavailable = false;
  await expect.poll(waiting).toBe(0);
  expect(requested).toMatchObject([{ ticketId: id, mode: RefreshMode.TAGS }]);
});

test('a request that is made again while it is forwarded is forwarded again', async () => {
  const { id } = (await post()).json;
  onRequest = async () => {
    onRequest = async () => undefined;
    await refresh(id, { refreshMode: 'tags' });
  };
  await refresh(id, { refreshMode: 'tags' });
  await expect.poll(() => requested.length).toBe(2);
  await expect.poll(waiting).toBe(0);
});

/** Creates a ticket without a customer, and then imports a customer with the address of its sender. */
async function ticketOfUnknown(name: string, changes: object = {}): Promise<number> {
  const { id } = (await post('', { from: `${name}@example.com` })).json;
  await tickets.database.collection('tickets').updateOne({ _id: id as never }, { $set: changes });
  const customers = [{ id: name, lastname: 'Kim', email: `${name}@example.com` }];
  expect((await tickets.rpc('CustomerService/ImportCustomers', { customers }, { roleId: 1 }))[0]).toBe(200);
  return id;
}

// spec: 22.7
test('refreshMode=customer and full read the customer anew, as a refresh, and change nothing else here', async () => {
  const ids = [await ticketOfUnknown('c'), await ticketOfUnknown('f')];
  const body = ids.map((id, index) => ({ id, refreshMode: ['customer', 'full'][index] }));
  expect((await tickets.request('PATCH', '/ticket', { body })).status).toBe(200);
  await expect.poll(waiting).toBe(0);
  // The intents service is not asked about the customer.
  expect(requested).toMatchObject([{ ticketId: ids[1], mode: RefreshMode.FULL }]);
  for (const id of ids) {
    const { outbox } = await tickets.documentOf(id);
    expect(outbox.at(-1)).toMatchObject({ cause: 'refresh', type: 'ticket.updated', version: 2 });
    const fields = outbox.at(-1).changes.map(({ field }: { field: string }) => field);
    expect(fields.sort()).toEqual(['customerId', 'customerLegitimation']);
  }
});

test('a refresh leaves the customer of spam alone', async () => {
  settings.spamDetectionTagId = 77;
  const clean = await ticketOfUnknown('clean', { spamStatus: 'manual_clean' });
  const spam = [
    await ticketOfUnknown('manual', { spamStatus: 'manual_spam' }),
    await ticketOfUnknown('programmatic', { spamStatus: 'auto_programmatic' }),
    await ticketOfUnknown('tag', { tagIds: [77] }),
  ];
  const body = [clean, ...spam].map((id, index) => ({ id, refreshMode: index % 2 === 0 ? 'customer' : 'full' }));
  expect((await tickets.request('PATCH', '/ticket', { body })).status).toBe(200);
  await expect.poll(waiting).toBe(0);
  expect(await tickets.documentOf(clean)).toMatchObject({ version: 2, customerId: 'clean' });
  for (const id of spam) expect(await tickets.documentOf(id)).toMatchObject({ version: 1, customerId: null });
});

// spec: 21.2
test('process=realtime responds with the analysed ticket', async () => {
  analyse = async (id) => {
    await tickets.database.collection('tickets').updateOne({ _id: id as never }, { $set: { language: 'German' } });
  };
  const { status, json } = await post('?process=realtime');
  expect([status, json.language]).toEqual([200, 'German']);
});

// guarantee: F30
test('process=realtime creates the ticket also while the intents service is unavailable', async () => {
  isUnavailable = true;
  const { status, json } = await post('?process=realtime');
  expect([status, json.aiSupportLevel]).toEqual([200, 'unprocessed']);
});

// spec: 21.2
test('process=realtime waits 10 seconds at most', async () => {
  vi.useFakeTimers({ toFake: ['Date'] });
  onTestFinished(() => void vi.useRealTimers());
  const timeouts: (string | null)[] = [];
  analyse = async (_, timeout) => {
    timeouts.push(timeout);
    throw new ConnectError('the time is over', Code.DeadlineExceeded);
  };
  expect((await post('?process=realtime')).status).toBe(200);
  // In milliseconds, as gRPC writes them.
  expect(timeouts).toEqual(['10000m']);
});

// spec: 21.4
test('process=false is analysed after its first reader, a person, who does not wait for it', async () => {
  const { id } = (await post('?process=false')).json;
  await tickets.request('GET', `/ticket/${id}`, { caller: { kind: 'codeExecutor' } });
  expect(await waiting()).toBe(0);
  await tickets.request('GET', `/ticket/${id}`);
  await expect.poll(() => requested).toMatchObject([{ ticketId: id }]);
  expect(requested[0]?.mode).toBeUndefined();
});

test('a read of a ticket that is processed, or is spam, or not process=false, asks for nothing', async () => {
  const ids = [(await post()).json.id];
  for (const changes of [{ aiSupportLevel: 'human' }, { spamStatus: 'auto_spam' }]) {
    const { id } = (await post('?process=false')).json;
    await tickets.database.collection('tickets').updateOne({ _id: id as never }, { $set: changes });
    ids.push(id);
  }
  for (const id of ids) expect((await tickets.request('GET', `/ticket/${id}`)).status).toBe(200);
  expect([await waiting(), requested]).toEqual([0, []]);
});
