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
let has: boolean;
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
        if (!has) return {};
        return { sessions: [{ ...session, ...(ticketId === undefined ? {} : { ticketId }) }], total: 1 };
      },
    });
  });
  tickets = await startHarness({ calledPorts: { grpc: stub.port } });
});
beforeEach(() => {
  asked = [];
  respond = async () => undefined;
  has = true;
});
afterAll(async () => {
  await tickets.stop();
  await stub.stop();
});

const create = async () => (await tickets.request('POST', '/ticket', { body: { channel: 'email' } })).json;
const note = async (...ticketIds: number[]) =>
  (await tickets.rpc('AnalysisService/NoteSessions', { ticketIds }, { kind: 'service', service: 'intents' }))[1];
/** Creates a ticket that has sessions. */
const createTalkedAbout = async () => {
  const created = await create();
  await note(created.id);
  return created;
};
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
  const { id, ...created } = await createTalkedAbout();
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
  const { id } = await createTalkedAbout();
  expect((await get(id, '?includeSessions=false')).json).not.toHaveProperty('sessions');
  expect(asked).toEqual([]);
});

test('no sessions are asked for of a ticket that has none', async () => {
  const { id } = await create();
  expect((await get(id)).json.sessions).toEqual([]);
  expect(asked).toEqual([]);
});

test('that tickets have sessions is noted in those that exist, and is no change of them', async () => {
  const [one, other, deleted] = [await create(), await create(), await create()];
  await tickets.request('DELETE', `/ticket/${deleted.id}`, { caller: { roleId: 1 } });
  expect(await note(one.id, deleted.id, 999_999)).toEqual({ ticketIds: [one.id] });
  expect(await tickets.documentOf(one.id)).toMatchObject({ hasSessions: true, version: 1 });
  expect(await note(one.id, other.id)).toEqual({ ticketIds: [one.id, other.id] });
  expect(await note(999_999)).toEqual({});
  expect(await tickets.documentOf(deleted.id)).not.toHaveProperty('hasSessions');
});

test('only the intents service may note sessions', async () => {
  const { id } = await create();
  const [status] = await tickets.rpc('AnalysisService/NoteSessions', { ticketIds: [id] });
  const [ofOther] = await tickets.rpc(
    'AnalysisService/NoteSessions',
    { ticketIds: [id] },
    { kind: 'service', service: 'reporting' },
  );
  expect([status, ofOther]).toEqual([403, 403]);
});

test('a ticket of an earlier version is asked for once if it has no sessions, and always if it may have some', async () => {
  const documents = tickets.database.collection<{ _id: number }>('tickets');
  const createOld = async () => {
    const { id } = await create();
    await documents.updateOne({ _id: id }, { $unset: { hasSessions: 1 } });
    return id;
  };
  const [withSome, withNone, noted] = [await createOld(), await createOld(), await createOld()];
  await untilShown(withSome);
  expect(await tickets.documentOf(withSome)).not.toHaveProperty('hasSessions');
  respond = () => Promise.reject(new ConnectError('unavailable', Code.Unavailable));
  expect((await get(withNone)).json.sessions).toEqual([]);
  expect(await tickets.documentOf(withNone)).not.toHaveProperty('hasSessions');
  respond = async () => undefined;
  has = false;
  await expect
    .poll(async () => [(await get(withNone)).status, (await tickets.documentOf(withNone)).hasSessions])
    .toEqual([200, false]);
  asked = [];
  expect((await get(withNone)).json.sessions).toEqual([]);
  expect(asked).toEqual([]);
  // A session that is recorded while a reader asks.
  respond = async () => void (await note(noted));
  await get(noted);
  expect(await tickets.documentOf(noted)).toHaveProperty('hasSessions', true);
});

// guarantee: F17
test('a ticket has no sessions while the intents service is unavailable', async () => {
  const { id } = await createTalkedAbout();
  await untilShown(id);
  respond = () => Promise.reject(new ConnectError('unavailable', Code.Unavailable));
  const got = await get(id);
  expect([got.status, got.json.sessions]).toEqual([200, []]);
  respond = async () => undefined;
  await untilShown(id);
});

// guarantee: F17
test('a ticket has no sessions while the intents service does not respond in time', async () => {
  const { id } = await createTalkedAbout();
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
