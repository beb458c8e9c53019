import { createClient } from '@connectrpc/connect';
import { createConnectTransport } from '@connectrpc/connect-node';
import { NotSentReason } from '@ticketing/contracts/ticketing/tickets/v1/conversation_pb.ts';
import { SnapshotService } from '@ticketing/contracts/ticketing/tickets/v1/snapshot_service_pb.ts';
import { serviceCaller } from '@ticketing/service-kit/identity/caller.ts';
import { ownersOfTicketData } from '@ticketing/system/services.ts';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startHarness, type TicketsHarness } from '../../test/harness.ts';
import { defaultSettings } from '../settings.ts';

let tickets: TicketsHarness;
let client: ReturnType<typeof clientOf>;
let settings = defaultSettings;
const admin = { roleId: 1 };

/** A client that sends the internal token of a service. */
function clientOf(service: string) {
  const transport = createConnectTransport({
    baseUrl: tickets.url,
    httpVersion: '1.1',
    interceptors: [
      (next) => async (request) => {
        const token = await tickets.identity.internalToken('tickets', serviceCaller(service), service);
        request.header.set('authorization', `Bearer ${token}`);
        return next(request);
      },
    ],
  });
  return createClient(SnapshotService, transport);
}

beforeAll(async () => {
  tickets = await startHarness({ settings: async () => settings });
  client = clientOf('reporting');
});
afterAll(() => tickets.stop());

const create = async (body: object) =>
  (await tickets.request('POST', '/ticket', { body: { channel: 'phone', ...body } })).json;
const createTag = async (name: string, parent?: number): Promise<number> =>
  (await tickets.request('POST', '/tag', { caller: admin, body: { name, parent } })).json.id;

test('a snapshot says why a reply to its recipients would not be sent', async () => {
  const replyNotSent = async (body: object) => {
    const { id } = await create(body);
    return (await client.getTicketSnapshots({ ticketIds: [id], withReplyNotSent: true })).snapshots[0]?.replyNotSent;
  };
  const from = 'kim@example.com';
  expect(await replyNotSent({ from })).toBe(NotSentReason.NO_SENDER);
  settings = { ...defaultSettings, mailFrom: 'desk@example.org' };
  expect(await replyNotSent({ from })).toBeUndefined();
  expect(await replyNotSent({ from: '+49 30 1' })).toBe(NotSentReason.NO_RECIPIENT);
  expect(await replyNotSent({ channel: 'chat', from })).toBe(NotSentReason.CHANNEL_WITHOUT_MAIL);
  expect(await replyNotSent({ channel: 'system' })).toBe(NotSentReason.NO_RECIPIENT);
});

test('a snapshot is the whole ticket, with the tags on it and their ancestors', async () => {
  const top = await createTag('Rechnung');
  const child = await createTag('Mahnung', top);
  await createTag('unrelated');
  const { id } = await create({ subject: 'Hallo', tags: [child], rawData: { a: [1] }, agentId: 7 });
  await tickets.request('PATCH', `/ticket/${id}`, { body: { priority: 'high' } });
  const { snapshots, tags, tagRevision } = await client.getTicketSnapshots({ ticketIds: [id, 999_999] });
  expect(snapshots).toHaveLength(1);
  const [snapshot] = snapshots;
  expect(snapshot?.manualWorkEntries).toBe(1);
  expect(snapshot?.ticket).toMatchObject({ id, version: 2, subject: 'Hallo', tagIds: [child] });
  expect([snapshot?.ticket?.rawData, snapshot?.jsonTexts]).toEqual([undefined, { rawData: '{"a":[1]}' }]);
  expect(snapshot?.ticket?.agent).toMatchObject({ id: 7, email: 'ada@example.org' });
  expect(tags.map(({ id: tag, parent }) => [tag, parent]).sort()).toEqual([
    [top, undefined],
    [child, top],
  ]);
  await tickets.request('PATCH', `/tag/${top}`, { caller: admin, body: { name: 'Rechnungen' } });
  const later = await client.getTicketSnapshots({ ticketIds: [id] });
  expect(later.tagRevision).toBeGreaterThan(tagRevision);
  expect(later.tags.find((tag) => tag.id === child)?.fullName).toBe('Rechnungen / Mahnung');
});

test('versions are listed by id, page by page, including those of deleted tickets', async () => {
  const ids = [await create({}), await create({}), await create({})].map(({ id }) => id);
  await tickets.request('PATCH', `/ticket/${ids[1]}`, { body: { priority: 'high' } });
  await tickets.request('DELETE', `/ticket/${ids[2]}`, { caller: admin });
  const first = await client.listTicketVersions({ afterId: ids[0] - 1, limit: 2 });
  expect(first.versions).toMatchObject([
    { ticketId: ids[0], version: 1, deleted: false },
    { ticketId: ids[1], version: 2, deleted: false },
  ]);
  const rest = await client.listTicketVersions({ afterId: ids[1] });
  expect(rest.versions).toMatchObject([{ ticketId: ids[2], version: 2, deleted: true }]);
});

test('a deleted ticket is purged when every service has confirmed its erasure, and is counted until then', async () => {
  const others = ownersOfTicketData.filter((name) => name !== 'tickets');
  const { id } = await create({ subject: 'Geheim' });
  await expect(client.confirmErasure({ ticketId: id })).rejects.toThrow('was not deleted');
  await tickets.request('DELETE', `/ticket/${id}`, { caller: admin });
  const metrics = async () => (await fetch(`http://127.0.0.1:${tickets.running.ports.internal}/metrics`)).text();
  const pending = async () =>
    Number(/^erasures_pending\{.*owner="reporting".*\} (\d+)$/m.exec(await metrics())?.[1] ?? 0);
  const before = await pending();
  expect(before).toBeGreaterThan(0);
  expect(await metrics()).toMatch(/^erasures_oldest_age_seconds\{.*owner="reporting".*\} [\d.]+$/m);
  expect((await tickets.documentOf(id)).notErasedBy).toEqual(others);
  expect((await client.getTicketSnapshots({ ticketIds: [id] })).snapshots).toEqual([]);
  for (const other of [...others, ...others]) await clientOf(other).confirmErasure({ ticketId: id });
  expect(Object.keys(await tickets.documentOf(id)).sort()).toEqual([
    '_id',
    'deletedAt',
    'outbox',
    'outboxSince',
    'version',
    'wordsRules',
  ]);
  expect(await pending()).toBe(before - 1);
});
