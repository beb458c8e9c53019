import { Code, ConnectError } from '@connectrpc/connect';
import { SessionService } from '@ticketing/contracts/ticketing/intents/v1/session_service_pb.ts';
import { toTimestamp } from '@ticketing/rest/codec/date-time.ts';
import { type StubServer, startStubServer } from '@ticketing/testkit/stub-server.ts';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { startHarness, type TicketsHarness } from '../../test/harness.ts';

const session = {
  id: '00000000-0000-4000-8000-000000000001',
  lastActivityAt: toTimestamp(1_700_000_060),
  createdAt: toTimestamp(1_700_000_000),
  participants: [{ id: 7, name: 'Ada' }],
  messageCount: 4,
  costUsd: 0.25,
};

let asked: { ticketId: number | undefined; caller: string }[] = [];
let respond: () => Promise<void>;
let stub: StubServer;
let tickets: TicketsHarness;

beforeAll(async () => {
  stub = await startStubServer((router) => {
    router.service(SessionService, {
      async listSessions({ ticketId }, { requestHeader }) {
        const [, claims = ''] = (requestHeader.get('authorization') ?? '').split('.');
        const { caller } = JSON.parse(Buffer.from(claims, 'base64url').toString('utf8'));
        asked.push({ ticketId, caller: caller?.profileId });
        await respond();
        return { sessions: [{ ...session, ...(ticketId === undefined ? {} : { ticketId }) }], total: 1 };
      },
    });
  });
  tickets = await startHarness({ calledPorts: { grpc: stub.port } });
});
beforeEach(() => {
  asked = [];
  respond = async () => undefined;
});
afterAll(async () => {
  await tickets.stop();
  await stub.stop();
});

const create = async () => (await tickets.request('POST', '/ticket', { body: { channel: 'email' } })).json;
const get = (id: number, query = '') => tickets.request('GET', `/ticket/${id}${query}`);
const shown = (id: number) => [
  {
    id: session.id,
    ticketId: id,
    lastActivityAt: '2023-11-14T22:14:20Z',
    createdAt: '2023-11-14T22:13:20Z',
    participants: [{ id: 7, name: 'Ada' }],
    messageCount: 4,
    costUsd: 0.25,
    model: null,
  },
];
/** After a failure they are not read for a moment. */
const untilShown = (id: number) => expect.poll(async () => (await get(id)).json.sessions).toEqual(shown(id));

// spec: 6.59
test('a ticket is read with its sessions, which are asked for once and for the caller', async () => {
  const { id, ...created } = await create();
  expect(created).not.toHaveProperty('sessions');
  const changed = await tickets.request('PATCH', `/ticket/${id}`, { body: { status: 'closed' } });
  expect(changed.json.ticket).not.toHaveProperty('sessions');
  expect(asked).toEqual([]);
  const read = async () => {
    asked = [];
    const { sessions } = (await get(id)).json;
    return { sessions, asked };
  };
  // On a slow machine the first reads may not wait long enough.
  await expect.poll(read).toEqual({ sessions: shown(id), asked: [{ ticketId: id, caller: 7 }] });
});

// spec: 23.4
test('a ticket is read without its sessions, which are not asked for then', async () => {
  const { id } = await create();
  expect((await get(id, '?includeSessions=false')).json).not.toHaveProperty('sessions');
  expect(asked).toEqual([]);
});

// guarantee: F17
test('a ticket has no sessions while the intents service is unavailable', async () => {
  const { id } = await create();
  await untilShown(id);
  respond = () => Promise.reject(new ConnectError('unavailable', Code.Unavailable));
  const got = await get(id);
  expect([got.status, got.json.sessions]).toEqual([200, []]);
  respond = async () => undefined;
  await untilShown(id);
});

// guarantee: F17
test('a ticket has no sessions while the intents service does not respond in time', async () => {
  const { id } = await create();
  await untilShown(id);
  let release = (): void => undefined;
  respond = () =>
    new Promise((resolve) => {
      release = resolve;
    });
  const got = await get(id);
  expect([got.status, got.json.sessions]).toEqual([200, []]);
  release();
  respond = async () => undefined;
  await untilShown(id);
});
