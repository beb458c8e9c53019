import { create, toBinary } from '@bufbuild/protobuf';
import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import type { Client } from '@connectrpc/connect';
import { TicketChangedSchema, TicketChangeType } from '@ticketing/contracts/ticketing/events/v1/ticket_changed_pb.ts';
import { SessionService } from '@ticketing/contracts/ticketing/intents/v1/session_service_pb.ts';
import { ticketChangedTopic } from '@ticketing/contracts/topics.ts';
import type { Bus } from '@ticketing/events/bus/bus.ts';
import { eventMessage } from '@ticketing/events/bus/envelope.ts';
import { crashAtEachWrite, crashAtWrite } from '@ticketing/testkit/crash.ts';
import { golden } from '@ticketing/testkit/golden.ts';
import { afterAll, afterEach, beforeAll, describe, expect, it, test, vi } from 'vitest';
import { type IntentsHarness, startHarness } from '../../test/harness.ts';
import { emptyModel } from '../../test/stub-called.ts';

let intents: IntentsHarness;
let assistant: Client<typeof SessionService>;
let bus: Bus;

beforeAll(async () => {
  intents = await startHarness({ variables: { ROLES: 'api,consumer' }, usesBus: true });
  bus = await intents.openBus();
  assistant = await intents.openClient(SessionService, {
    caller: { kind: 'serviceWorker', permissions: ['recordSessions'] },
  });
});
afterEach(async () => {
  await intents.database.collection('sessions').deleteMany({});
  Object.assign(intents.model, emptyModel());
});
afterAll(async () => {
  await bus.close();
  await intents.stop();
});

const uuid = (number: number) => `00000000-0000-4000-8000-${String(number).padStart(12, '0')}`;
const start = Date.UTC(2026, 0, 2, 3, 4, 5);
const at = (seconds: number) => timestampFromMs(start + seconds * 1000);

const session = (number: number, seconds: number, fields: object = {}) => ({
  id: uuid(number),
  createdAt: at(0),
  lastActivityAt: at(seconds),
  ...fields,
});
const everything = {
  ticketId: 3,
  participants: [{ id: 7, name: 'Ada' }, { id: 8 }],
  messageCount: 4,
  costUsd: 0.25,
  model: 'model-1',
};
const list = async (query = '', permissions: string[] = []) =>
  (await intents.request('GET', `/sessions${query}`, { caller: { permissions } })).json;

describe('a session', () => {
  // spec: 8.5, 37.6
  it('is recorded and listed; its cost and model show only with the right to see them', async () => {
    intents.model.ticketIds.add(3);
    await assistant.recordSession(session(1, 60, everything));
    await assistant.recordSession(session(2, 30));
    await golden('sessions', await list('', ['reportAiPerformance']));
    const shown = await list();
    expect(shown.sessions.map(({ costUsd, model }: Record<string, unknown>) => [costUsd, model])).toEqual([
      [null, null],
      [null, null],
    ]);
  });

  it('is shown by its recording like by the list', async () => {
    const { session: hidden } = await assistant.recordSession(session(1, 0, { costUsd: 1, model: 'm' }));
    expect([hidden?.costUsd, hidden?.model]).toEqual([undefined, undefined]);
    const admin = await intents.openClient(SessionService, { caller: { roleId: 1 } });
    const { session: shown } = await admin.recordSession(session(1, 1, { costUsd: 2, model: 'm' }));
    expect([shown?.costUsd, shown?.model]).toEqual([2, 'm']);
  });

  it('is not recorded without the right', async () => {
    const other = await intents.openClient(SessionService, { caller: { permissions: ['manageAiAgents'] } });
    await expect(other.recordSession(session(1, 0))).rejects.toThrow('recordSessions');
    const service = await intents.openClient(SessionService);
    await expect(service.recordSession(session(1, 0))).rejects.toThrow('recordSessions');
  });

  // spec: 8.2, 8.4
  it('is the one with the latest activity, in whatever order it is recorded', async () => {
    await assistant.recordSession(session(1, 20, { messageCount: 2 }));
    const { session: kept } = await assistant.recordSession(session(1, 10, { messageCount: 1 }));
    expect(kept?.messageCount).toBe(2);
    await assistant.recordSession(session(1, 20, { messageCount: 3, id: uuid(1).toUpperCase() }));
    const { sessions } = await list();
    expect(sessions).toMatchObject([{ id: uuid(1), messageCount: 3, lastActivityAt: '2026-01-02T03:04:25Z' }]);
    const many = Array.from({ length: 30 }, (_, nth) => session(2, (nth * 7) % 30, { messageCount: (nth * 7) % 30 }));
    await Promise.all(many.map((one) => assistant.recordSession(one)));
    expect((await list()).sessions[0]).toMatchObject({ id: uuid(2), messageCount: 29 });
  });

  // spec: 8.1
  it('belongs to a ticket that exists, and never to another one', async () => {
    intents.model.ticketIds = new Set([3, 5]);
    await expect(assistant.recordSession(session(1, 0, { ticketId: 4 }))).rejects.toThrow('There is no such ticket.');
    await assistant.recordSession(session(1, 0));
    await assistant.recordSession(session(1, 1, { ticketId: 3 }));
    const moved = assistant.recordSession(session(1, 2, { ticketId: 5 }));
    await expect(moved).rejects.toThrow('The session was recorded for another ticket.');
    await expect(assistant.recordSession(session(1, 2))).rejects.toThrow('another ticket');
    expect((await list()).sessions).toMatchObject([{ ticketId: 3, lastActivityAt: '2026-01-02T03:04:06Z' }]);
  });

  // guarantee: F41
  it('is noted in its ticket before it is stored, wherever the process dies in between', async () => {
    intents.model.ticketIds.add(3);
    const writes = await crashAtEachWrite(async (nth, when) => {
      await intents.database.collection('sessions').deleteMany({});
      intents.model.noted = [];
      const record = () => assistant.recordSession(session(1, 0, { ticketId: 3 })).catch(() => undefined);
      const hasCrashed = await crashAtWrite(nth, when, record, { isWholeProcess: true });
      const stored = await intents.database.collection('sessions').countDocuments();
      expect(intents.model.noted).toEqual([3]);
      expect(stored).toBeLessThanOrEqual(1);
      return hasCrashed;
    });
    expect(writes).toBeGreaterThan(0);
  });

  it('is noted in its ticket again each day', async () => {
    intents.model.ticketIds = new Set([3, 5]);
    for (const [number, ticketId] of [5, 3, 3, undefined].entries()) {
      await assistant.recordSession(session(number, 0, ticketId === undefined ? {} : { ticketId }));
    }
    intents.model.noted = [];
    const scheduler = await intents.startInstance({ TICKETING_INTENTS_ROLES: 'scheduler' });
    await vi.waitFor(() => expect(intents.model.noted).toEqual([3, 5]), { timeout: 30_000 });
    await scheduler.stop();
  });

  it('of a ticket is not recorded while the tickets service is unavailable', async () => {
    intents.model.isUnavailable = true;
    await expect(assistant.recordSession(session(1, 0, { ticketId: 3 }))).rejects.toThrow(/unavailable/i);
    await assistant.recordSession(session(2, 0));
    expect((await list()).total).toBe(1);
  });

  it.each<[object, string]>([
    [{ id: 'x' }, '#/id'],
    [{ ticketId: 0 }, '#/ticketId'],
    [{ messageCount: -1 }, '#/messageCount'],
    [{ costUsd: -1 }, '#/costUsd'],
    [{ costUsd: Number.NaN }, '#/costUsd'],
    [{ costUsd: Number.POSITIVE_INFINITY }, '#/costUsd'],
    [{ model: 'x'.repeat(321) }, '#/model'],
    [{ participants: Array.from({ length: 101 }, () => ({ id: 1 })) }, '#/participants'],
    [{ participants: [{ id: 0 }] }, '#/participants/0/id'],
    [{ participants: [{ id: 1, name: 'x'.repeat(321) }] }, '#/participants/0/name'],
    [{ lastActivityAt: undefined }, '#/lastActivityAt'],
    [{ createdAt: undefined }, '#/createdAt'],
  ])('cannot have %j', async (fields, pointer) => {
    await expect(assistant.recordSession(session(1, 0, fields))).rejects.toThrow(pointer);
  });

  // spec: 8.3
  it('may have 100 participants and names of 320 characters', async () => {
    const participants = Array.from({ length: 100 }, (_, index) => ({ id: index + 1, name: 'x'.repeat(320) }));
    const { session: recorded } = await assistant.recordSession(
      session(1, 0, { participants, model: 'x'.repeat(320) }),
    );
    expect(recorded?.participants).toHaveLength(100);
  });
});

describe('the list', () => {
  // spec: 36.6
  it('has the sessions of a ticket in pages, those with the last activity first', async () => {
    intents.model.ticketIds = new Set([3, 5]);
    for (const number of [1, 2, 3, 4]) {
      await assistant.recordSession(session(number, number === 4 ? 2 : number, { ticketId: number === 2 ? 5 : 3 }));
    }
    const ids = ({ sessions }: { sessions: { id: string }[] }) => sessions.map(({ id }) => Number(id.slice(-4)));
    expect(ids(await list())).toEqual([3, 2, 4, 1]);
    expect(ids(await list('?ticketId=3'))).toEqual([3, 4, 1]);
    expect(await list('?ticketId=3&limit=1&offset=1')).toMatchObject({ total: 3, offset: 1, limit: 1 });
    expect(ids(await list('?ticketId=3&limit=1&offset=1'))).toEqual([4]);
    await assistant.recordSession(session(5, 0));
    for (const number of [11, 12, 13, 14, 15]) await assistant.recordSession(session(number, -number, { ticketId: 3 }));
    // More sessions than are read without a look at their sizes.
    const all = await list('?ticketId=3');
    expect([ids(all), all.total]).toEqual([[3, 4, 1, 11, 12, 13, 14, 15], 8]);
    expect(ids(await list('?ticketId=3&limit=2&offset=2'))).toEqual([1, 11]);
    expect((await list('?ticketId=5&offset=1')).total).toBe(1);
    expect(await list('?ticketId=4')).toEqual({ sessions: [], total: 0, offset: 0, limit: 100 });
  });
});

async function publishDeletion(ticketId: number): Promise<void> {
  const eventId = `evt_${ticketId}`;
  const event = create(TicketChangedSchema, { eventId, ticketId, version: 2, type: TicketChangeType.TICKET_DELETED });
  const envelope = { id: eventId, type: 'ticket.deleted', source: 'test', subject: String(ticketId), time: 0 };
  const message = eventMessage(String(ticketId), envelope, toBinary(TicketChangedSchema, event));
  await bus.publish(ticketChangedTopic.name, [message]);
}

const isConfirmed = (ticketId: number) =>
  vi.waitFor(() => expect(intents.model.confirmed).toContain(ticketId), { timeout: 30_000 });

// guarantee: E7
test('the sessions of a deleted ticket are erased, and no others, and the erasure is confirmed', async () => {
  intents.model.ticketIds = new Set([11, 12]);
  for (const ticketId of [11, 12]) await assistant.recordSession(session(ticketId, 0, { ticketId, model: 'm' }));
  await publishDeletion(11);
  await isConfirmed(11);
  expect((await list()).sessions).toMatchObject([{ ticketId: 12 }]);
});

// guarantee: E7
test('a session that is recorded while its ticket is being deleted is not kept', async () => {
  intents.model.ticketIds.add(21);
  intents.model.beforeResponse = async () => {
    intents.model.beforeResponse = async () => undefined;
    await publishDeletion(21);
    await isConfirmed(21);
  };
  const late = assistant.recordSession(session(1, 0, { ticketId: 21 }));
  await expect(late).rejects.toThrow('There is no such ticket.');
  expect(await intents.database.collection('sessions').countDocuments()).toBe(0);
});
