import { randomUUID } from 'node:crypto';
import { create } from '@bufbuild/protobuf';
import { ContentType } from '@ticketing/contracts/ticketing/tickets/v1/conversation_pb.ts';
import { Channel, Direction } from '@ticketing/contracts/ticketing/tickets/v1/enums_pb.ts';
import {
  CreateTicketRequestSchema,
  CreateTicketsRequestSchema,
  DeleteTicketRequestSchema,
  TicketChangeSchema,
  UpdateTicketsRequestSchema,
} from '@ticketing/contracts/ticketing/tickets/v1/ticket_service_pb.ts';
import type { Database } from '@ticketing/store/connection/database.ts';
import { crashAtEachWrite, crashAtWrite } from '@ticketing/testkit/crash.ts';
import { testCall } from '@ticketing/testkit/test-call.ts';
import { afterAll, afterEach, beforeAll, expect, test, vi } from 'vitest';
import { startHarness, type TicketsHarness } from '../../test/harness.ts';
import { newProcess } from '../../test/new-process.ts';
import { closedAfterMs } from './store/closed-id-store.ts';

const call = testCall({ roleId: 1 });
let tickets: TicketsHarness;
let database: Database;

beforeAll(async () => {
  tickets = await startHarness();
  database = await tickets.openDatabase();
});
afterEach(() => vi.restoreAllMocks());
afterAll(async () => {
  await database.close();
  await tickets.stop();
});

/** Lets the leases of dead processes expire. */
async function expireLeases(): Promise<void> {
  for (const name of ['bulks', 'creations']) {
    await tickets.database
      .collection(name)
      .updateMany({ 'lease.owner': { $exists: true } }, { $set: { 'lease.expiresAt': new Date(0) } });
  }
}

/** Lets the leases of dead processes expire, and runs all scheduled tasks as another process would. */
async function finishInAnotherProcess(): Promise<void> {
  await expireLeases();
  for (const { run } of newProcess(tickets, database).tasks) await run();
}

const post = async (): Promise<number> =>
  (await tickets.request('POST', '/ticket', { body: { channel: 'chat' } })).json.id;
const upTo = (version: number) => Array.from({ length: version }, (_, index) => index + 1);
const versionsOf = (document: { outbox: { version: number }[] }) => document.outbox.map(({ version }) => version);

test.each([
  ['without versions', false],
  ['with versions', true],
])(
  // guarantee: F11
  'a bulk %s whose process dies between any two writes is applied to all tickets or to none, by one change each',
  async (_, hasVersions) => {
    const seen = new Set<boolean>();
    const steps = await crashAtEachWrite(async (nth, when) => {
      const ids = [await post(), await post(), await post()];
      const changes = ids.map((id) =>
        create(TicketChangeSchema, {
          id,
          contractId: 'V',
          updateMask: { paths: ['contract_id'] },
          ...(hasVersions ? { version: 1 } : {}),
        }),
      );
      const request = create(UpdateTicketsRequestSchema, { tickets: changes });
      const hasDied = await crashAtWrite(nth, when, () => newProcess(tickets, database).updateTickets(call, request));
      await finishInAnotherProcess();
      const documents = await Promise.all(ids.map((id) => tickets.documentOf(id)));
      const versions = documents.map(({ version }) => version as number);
      expect(new Set(versions).size, `${when} write ${nth}: ${versions}`).toBe(1);
      expect([1, 2]).toContain(versions[0]);
      seen.add(versions[0] === 2);
      if (!hasDied) expect(versions[0]).toBe(2);
      for (const document of documents) {
        expect(versionsOf(document)).toEqual(upTo(document.version));
        expect(document.reservedBy).toBeNull();
      }
      expect(await tickets.database.collection('bulks').countDocuments({ state: { $ne: 'applied' } })).toBe(0);
      return hasDied;
    });
    // The changes of the three tickets are one batch, or up to three.
    expect(steps).toBeGreaterThanOrEqual(hasVersions ? 8 : 5);
    expect(seen).toEqual(new Set([true, false]));
  },
);

test('a deletion whose process dies between any two writes is finished by another, or did not happen', async () => {
  let attempts = 0;
  const steps = await crashAtEachWrite(async (nth, when) => {
    const externalTicketId = `weg-${attempts++}`;
    const body = { channel: 'chat', subject: externalTicketId, externalTicketId };
    const { id } = (
      await tickets.request('POST', '/ticket', { body, headers: { 'idempotency-key': externalTicketId } })
    ).json;
    const request = create(DeleteTicketRequestSchema, { ticketId: id });
    const hasDied = await crashAtWrite(nth, when, () => newProcess(tickets, database).deleteTicket(call, request));
    await finishInAnotherProcess();
    const isDeleted = (await tickets.request('GET', `/ticket/${id}`)).status === 404;
    if (!hasDied) expect(isDeleted).toBe(true);
    for (const name of ['tickets', 'externalIds', 'idempotencyKeys']) {
      const kept = JSON.stringify(await tickets.database.collection(name).find().toArray());
      expect(kept.includes(`"${externalTicketId}"`), `${name}, ${when} write ${nth}`).toBe(
        !isDeleted && name !== 'idempotencyKeys',
      );
    }
    expect(versionsOf(await tickets.documentOf(id))).toEqual(isDeleted ? [1, 2] : [1]);
    return hasDied;
  });
  expect(steps).toBeGreaterThanOrEqual(4);
});

test('a creation with an external id whose process dies between any two writes is completed by the next request', async () => {
  let attempts = 0;
  await crashAtEachWrite(async (nth, when) => {
    const externalTicketId = `neu-${attempts++}`;
    const request = create(CreateTicketRequestSchema, { channel: 6, externalTicketId });
    const hasDied = await crashAtWrite(nth, when, () => newProcess(tickets, database).createTicket(call, request));
    const [first, second] = await Promise.all(
      [1, 2].map(() => newProcess(tickets, database).createTicket(call, request)),
    );
    expect(second?.ticket?.id).toBe(first?.ticket?.id);
    const documents = await tickets.database.collection('tickets').find({ externalTicketId }).toArray();
    expect(documents.map(({ version }) => version)).toEqual([1]);
    return hasDied;
  });
});

// guarantee: F42
test('a bulk creation whose process dies between any two writes is stored whole or not at all, each ticket once', async () => {
  let attempts = 0;
  const seen = new Set<boolean>();
  const steps = await crashAtEachWrite(async (nth, when) => {
    const name = `bulk-${attempts++}`;
    const existing = await tickets.request('POST', '/ticket', {
      body: { channel: 'chat', externalTicketId: `${name}-c` },
    });
    const message = (more: object = {}) => ({
      direction: Direction.OUT,
      content: { message: name, type: ContentType.TEXT },
      ...more,
    });
    const ticket = { channel: Channel.CHAT, subject: name };
    const request = create(CreateTicketsRequestSchema, {
      tickets: [
        {
          ...{ ...ticket, body: 'a', attachments: [{ name: 'a.txt', base64: 'YQ==' }] },
          messages: [message(), message({ externalConversationId: `${name}-m` })],
        },
        { ...ticket, externalTicketId: `${name}-b`, messages: [message()] },
        { ...ticket, externalTicketId: `${name}-c`, messages: [message({ attachments: [{ base64: 'YQ==' }] })] },
      ],
    });
    const hasDied = await crashAtWrite(nth, when, () => newProcess(tickets, database).createTickets(call, request));
    await finishInAnotherProcess();
    await finishInAnotherProcess();
    const stored = await tickets.database.collection('tickets').find({ subject: name }).sort({ _id: 1 }).toArray();
    const isStored = stored.length > 0;
    if (!hasDied) expect(isStored).toBe(true);
    seen.add(isStored);
    const shown = stored.map(({ _id, conversationIds, attachments, ...document }) => [
      ...[_id === existing.json.id, conversationIds.length, attachments.length],
      versionsOf(document as unknown as { outbox: { version: number }[] }),
    ]);
    const whole = [
      [true, 1, 0, [1, 2, 3]],
      [false, 2, 1, [1, 2, 3]],
      [false, 1, 0, [1, 2]],
    ];
    expect(shown.toSorted(), `${when} write ${nth}`).toEqual(isStored ? whole.toSorted() : []);
    const messages = await tickets.database.collection('conversations').find({ body: name }).toArray();
    if (isStored) expect(messages).toHaveLength(4);
    expect(await tickets.database.collection('creations').countDocuments({ finishedAt: null })).toBe(0);
    return hasDied;
  });
  expect(steps).toBeGreaterThanOrEqual(15);
  expect(seen).toEqual(new Set([true, false]));
});

test('a ticket that is deleted before its bulk creation is finished is not created again', async () => {
  let attempts = 0;
  let deleted = 0;
  await crashAtEachWrite(async (nth, when) => {
    const name = `deleted-${attempts++}`;
    const request = create(CreateTicketsRequestSchema, {
      tickets: [withMessage(name), { ...withMessage(name), externalTicketId: name }],
    });
    const hasDied = await crashAtWrite(nth, when, () => newProcess(tickets, database).createTickets(call, request));
    const stored = await tickets.database.collection<{ _id: number }>('tickets').find({ subject: name }).toArray();
    for (const { _id: ticketId } of stored) {
      await newProcess(tickets, database).deleteTicket(call, create(DeleteTicketRequestSchema, { ticketId }));
      deleted += 1;
    }
    await finishInAnotherProcess();
    const again = await tickets.database.collection('tickets').countDocuments({ subject: name });
    expect([0, 2]).toContain(again + stored.length);
    // Nothing of a deleted ticket comes back.
    for (const { _id: ticketId } of stored) {
      for (const collection of ['conversations', 'externalMessageIds']) {
        expect(await tickets.database.collection(collection).countDocuments({ ticketId }), collection).toBe(0);
      }
    }
    return hasDied;
  });
  expect(deleted).toBeGreaterThan(0);
});

test('if ids of a bulk creation became void before it is finished, its tickets get others, with their messages', async () => {
  let attempts = 0;
  let closings = 0;
  let replaced = 0;
  await crashAtEachWrite(async (nth, when) => {
    const name = `void-${attempts++}`;
    const request = create(CreateTicketsRequestSchema, {
      tickets: [withMessage(name), { ...withMessage(name), externalTicketId: name }],
    });
    const hasDied = await crashAtWrite(nth, when, () => newProcess(tickets, database).createTickets(call, request));
    const later = await post();
    const { closedIds } = newProcess(tickets, database);
    for (const _ of [1, 2, 3]) {
      closings += 1;
      await closedIds.close(new Date(Date.now() + closings * closedAfterMs));
    }
    await finishInAnotherProcess();
    const stored = await tickets.database
      .collection<{ _id: number; conversationIds: number[] }>('tickets')
      .find({ subject: name })
      .toArray();
    expect([0, 2]).toContain(stored.length);
    for (const { _id: ticketId, conversationIds } of stored) {
      if (ticketId > later) replaced += 1;
      const messages = await tickets.database.collection('conversations').find({ ticketId }).toArray();
      expect(messages.map(({ _id }) => _id)).toEqual(conversationIds);
      expect(messages, `${when} write ${nth}`).toHaveLength(1);
    }
    return hasDied;
  });
  expect(replaced).toBeGreaterThan(0);
});

/** A ticket with a message, for a bulk creation. */
const withMessage = (name: string) => ({
  ...{ channel: Channel.CHAT, subject: name },
  messages: [{ content: { message: name, type: ContentType.TEXT }, externalConversationId: randomUUID() }],
});

test.each(['bulk creation', 'bulk'])(
  'a repeated %s that was recorded is finished, though it is not valid any more; one that was not recorded changes nothing',
  async (kind) => {
    const outcomes = new Set<string>();
    let attempts = 0;
    await crashAtEachWrite(async (nth, when) => {
      const name = `${kind}-${attempts++}`;
      const tag = await tickets.request('POST', '/tag', { caller: { roleId: 1 }, body: { name } });
      const tagId: number = tag.json.id;
      const isCreation = kind === 'bulk creation';
      const ids = isCreation ? [] : [await post(), await post()];
      const idempotency = { id: name, reserve: unused, reserved: () => undefined, addSubject: () => undefined };
      const keyed = testCall({ roleId: 1 }, { idempotency });
      const send = () => {
        const { createTickets, updateTickets } = newProcess(tickets, database);
        const created = { channel: Channel.CHAT, subject: name, tags: [tagId] };
        const changes = ids.map((id) => ({ id, addTagIds: [tagId], updateMask: { paths: ['add_tag_ids'] } }));
        return isCreation
          ? createTickets(keyed, create(CreateTicketsRequestSchema, { tickets: [created, created] }))
          : updateTickets(keyed, create(UpdateTicketsRequestSchema, { tickets: changes }));
      };
      const hasDied = await crashAtWrite(nth, when, send);
      expect((await tickets.request('DELETE', `/tag/${tagId}`, { caller: { roleId: 1 } })).status).toBe(200);
      await expireLeases();
      const outcome = await send().then(
        () => 'finished',
        ({ reason }: { reason?: string }) => reason ?? 'failed',
      );
      outcomes.add(outcome);
      const found = isCreation ? { subject: name } : { _id: { $in: ids }, version: { $gt: 1 } };
      const changed = await tickets.database.collection('tickets').countDocuments(found as object);
      expect([outcome, changed], `${when} write ${nth}`).toEqual(
        outcome === 'finished' ? ['finished', 2] : ['unknown_tag', 0],
      );
      return hasDied;
    });
    expect(outcomes).toEqual(new Set(['finished', 'unknown_tag']));
  },
);

function unused(): never {
  throw new Error('No id of a bulk is reserved by its request.');
}
