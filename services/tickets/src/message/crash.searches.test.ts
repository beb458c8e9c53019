import { create } from '@bufbuild/protobuf';
import { ContentType } from '@ticketing/contracts/ticketing/tickets/v1/conversation_pb.ts';
import {
  DeleteConversationRequestSchema,
  ReplyToTicketRequestSchema,
  StoreConversationRequestSchema,
  UpdateConversationRequestSchema,
} from '@ticketing/contracts/ticketing/tickets/v1/conversation_service_pb.ts';
import type { IdempotentRequest } from '@ticketing/service-kit/call/idempotent-request.ts';
import type { Database } from '@ticketing/store/connection/database.ts';
import { crashAtEachWrite, crashAtWrite } from '@ticketing/testkit/crash.ts';
import { testCall } from '@ticketing/testkit/test-call.ts';
import { afterAll, afterEach, beforeAll, expect, test, vi } from 'vitest';
import { startHarness, type TicketsHarness } from '../../test/harness.ts';
import { newProcess } from '../../test/new-process.ts';

const call = testCall({ kind: 'user', profileId: 7 });
const content = { message: 'We send someone.', type: ContentType.TEXT };
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

const post = async (channel = 'email'): Promise<number> => {
  const body = { channel, from: 'kim@example.com', status: 'closed' };
  return (await tickets.request('POST', '/ticket', { body })).json.id;
};
const collection = (name: string) => tickets.database.collection<{ _id: number | string }>(name);

/** Runs all scheduled tasks as another process would, after the time that a message may be unseen and its files unlisted. */
async function finishLater(): Promise<void> {
  for (const name of ['conversations', 'externalMessageIds']) {
    await collection(name).updateMany({ unseenSince: { $exists: true } }, { $set: { unseenSince: new Date(0) } });
  }
  for (const { run } of newProcess(tickets, database, 2).tasks) await run();
}

/** Checks that the messages, the counts, the version and the events of a ticket fit together, and that nothing else is left. */
async function requireConsistent(ticketId: number, step: string) {
  const document = await tickets.documentOf(ticketId);
  const { conversations, total } = (await tickets.request('GET', `/ticket/${ticketId}/conversation`)).json;
  const stored = await collection('conversations').find({ ticketId }).toArray();
  expect(stored.map(({ _id }) => _id).sort(), step).toEqual(conversations.map(({ id }: { id: number }) => id).sort());
  expect([...document.conversationIds, ...document.draftIds].sort(), step).toEqual(stored.map(({ _id }) => _id).sort());
  const published = conversations.filter(({ isDraft }: { isDraft: boolean }) => !isDraft);
  const { incomingMessages, outgoingMessages, internalMessages, outbox, version } = document;
  expect(incomingMessages + outgoingMessages + internalMessages, step).toBe(published.length);
  expect(outbox.map((event: { version: number }) => event.version)).toEqual(
    Array.from({ length: version }, (_, index) => index + 1),
  );
  const announced = outbox.flatMap(({ type, conversationId }: { type: string; conversationId?: number }) =>
    type === 'conversation.created' || type === 'conversation.published' ? [conversationId] : [],
  );
  const kept = new Set(published.map(({ id }: { id: number }) => id));
  expect(announced.filter((id: number) => kept.has(id)).sort(), step).toEqual([...kept].sort());
  const externalIds = await collection('externalMessageIds').find({ ticketId }).toArray();
  return { document, conversations, total, externalIds };
}

// guarantee: M1
// asvs: 2.3.3
test('a reply whose process dies between any two writes is part of its ticket with its event, or nothing of it is left', async () => {
  const seen = new Set<number>();
  const steps = await crashAtEachWrite(async (nth, when) => {
    const ticketId = await post();
    const request = create(ReplyToTicketRequestSchema, { ticketId, content });
    const hasDied = await crashAtWrite(nth, when, () => newProcess(tickets, database).replyToTicket(call, request));
    await finishLater();
    const { total, externalIds } = await requireConsistent(ticketId, `${when} write ${nth}`);
    if (!hasDied) expect(total).toBe(1);
    expect(externalIds).toHaveLength(total);
    seen.add(total);
    return hasDied;
  });
  expect(steps).toBeGreaterThanOrEqual(3);
  expect(seen).toEqual(new Set([0, 1]));
});

// guarantee: M2
test('a message that is stored again after its process died is stored once, and reopens its ticket once', async () => {
  let attempts = 0;
  await crashAtEachWrite(async (nth, when) => {
    const ticketId = await post();
    const externalConversationId = `crash-${attempts++}`;
    const request = create(StoreConversationRequestSchema, { ticketId, content, direction: 1, externalConversationId });
    const store = () => newProcess(tickets, database).storeConversation(call, request);
    const hasDied = await crashAtWrite(nth, when, store);
    const [first, second] = await Promise.all([store(), store()]);
    expect(second?.conversationId).toBe(first?.conversationId);
    await finishLater();
    const { document, total } = await requireConsistent(ticketId, `${when} write ${nth}`);
    expect(total).toBe(1);
    expect(document).toMatchObject({ status: 'open', version: 2, incomingMessages: 1 });
    return hasDied;
  });
});

// guarantee: M1
// asvs: 2.3.1
test.each([
  ['email', 'queued'],
  // The recipients that the publishing has stored were not named by anybody.
  ['chat', 'none'],
])(
  'a draft on channel %s whose publishing dies between any two writes is a draft or published',
  async (channel, status) => {
    const seen = new Set<boolean>();
    await crashAtEachWrite(async (nth, when) => {
      const ticketId = await post(channel);
      const draft = await newProcess(tickets, database).replyToTicket(
        call,
        create(ReplyToTicketRequestSchema, { ticketId, content, isDraft: true }),
      );
      const request = create(UpdateConversationRequestSchema, {
        ticketId,
        conversationId: draft.id,
        content: { message: 'Tomorrow.', type: ContentType.TEXT },
        isDraft: false,
        updateMask: { paths: ['content', 'is_draft'] },
      });
      const publish = () => newProcess(tickets, database).updateConversation(call, request);
      const hasDied = await crashAtWrite(nth, when, publish);
      await finishLater();
      const { conversations } = await requireConsistent(ticketId, `${when} write ${nth}`);
      const [{ isDraft, deliveryStatus }] = conversations;
      expect(deliveryStatus).toBe(isDraft ? 'none' : status);
      seen.add(isDraft);
      if (isDraft) {
        // The time during which only the process that has died could change it.
        await collection('conversations').updateOne({ _id: draft.id }, { $set: { publishingUntil: new Date(0) } });
        await publish();
        const again = await requireConsistent(ticketId, `again, ${when} write ${nth}`);
        expect(again.conversations).toMatchObject([{ isDraft: false, body: 'Tomorrow.', deliveryStatus: status }]);
      }
      return hasDied;
    });
    expect(seen).toEqual(new Set([true, false]));
  },
);

// guarantee: M4
test('a draft whose publishing died leaves no external id, once it is published again or deleted', async () => {
  await crashAtEachWrite(async (nth, when) => {
    const ticketId = await post();
    const drafts = [];
    for (let count = 0; count < 2; count++) {
      const request = create(ReplyToTicketRequestSchema, { ticketId, content, isDraft: true });
      drafts.push((await newProcess(tickets, database).replyToTicket(call, request)).id);
    }
    const [published = 0, deleted = 0] = drafts;
    const publish = (conversationId: number) => {
      const fields = { isDraft: false, updateMask: { paths: ['is_draft'] } };
      const request = create(UpdateConversationRequestSchema, { ticketId, conversationId, ...fields });
      return newProcess(tickets, database).updateConversation(call, request);
    };
    const hasDied = await crashAtWrite(nth, when, () => publish(published));
    await crashAtWrite(nth, when, () => publish(deleted));
    await collection('conversations').updateMany({ ticketId }, { $set: { publishingUntil: new Date(0) } });
    await publish(published);
    const request = create(DeleteConversationRequestSchema, { ticketId, conversationId: deleted });
    await newProcess(tickets, database)
      .deleteConversation(call, request)
      .catch(() => undefined);
    await finishLater();
    const { conversations, externalIds } = await requireConsistent(ticketId, `${when} write ${nth}`);
    expect(externalIds.map(({ _id }) => _id).sort(), `${when} write ${nth}`).toEqual(
      conversations.map((one: { externalConversationId: string }) => one.externalConversationId).sort(),
    );
    return hasDied;
  });
});

test.each([
  ['draft', { isDraft: true }],
  ['private note', { private: true }],
  // guarantee: M1
])('a %s whose deletion dies between any two writes is there or gone, and its count with it', async (_, kind) => {
  const seen = new Set<number>();
  await crashAtEachWrite(async (nth, when) => {
    const ticketId = await post();
    const { id } = await newProcess(tickets, database).replyToTicket(
      call,
      create(ReplyToTicketRequestSchema, { ticketId, content, ...kind }),
    );
    const request = create(DeleteConversationRequestSchema, { ticketId, conversationId: id });
    const hasDied = await crashAtWrite(nth, when, () =>
      newProcess(tickets, database).deleteConversation(call, request),
    );
    await finishLater();
    const { total } = await requireConsistent(ticketId, `${when} write ${nth}`);
    if (!hasDied) expect(total).toBe(0);
    seen.add(total);
    return hasDied;
  });
  expect(seen).toEqual(new Set([0, 1]));
});

// guarantee: M4
test('a message that is added while its ticket is deleted leaves nothing', async () => {
  for (let round = 0; round < 10; round++) {
    const ticketId = await post();
    const requests = Array.from({ length: 3 }, (_, index) =>
      tickets.request('POST', `/ticket/${ticketId}/conversation/store`, {
        body: {
          content: { message: 'x', type: 'text' },
          direction: 'in',
          externalConversationId: `del-${round}-${index}`,
        },
      }),
    );
    const draft = tickets.request('POST', `/ticket/${ticketId}/conversation/reply`, {
      body: { content: { message: 'x', type: 'text' }, isDraft: true },
    });
    const deleted = tickets.request('DELETE', `/ticket/${ticketId}`, { caller: { roleId: 1 } });
    const statuses = (await Promise.all([...requests, draft, deleted])).map(({ status }) => status);
    expect(statuses.every((status) => [200, 201, 404].includes(status))).toBe(true);
    await finishLater();
    for (const name of ['conversations', 'externalMessageIds']) {
      expect(await collection(name).countDocuments({ ticketId }), name).toBe(0);
    }
  }
});

test('a reply that is repeated after its process died between any two writes has one Message-ID, which is claimed', async () => {
  let attempts = 0;
  await crashAtEachWrite(async (nth, when) => {
    const ticketId = await post();
    const request = create(ReplyToTicketRequestSchema, { ticketId, content });
    let reserved: number | undefined;
    const idempotency: IdempotentRequest = {
      id: `reply-${attempts++}`,
      reserve: async (_, choose) => {
        reserved ??= await choose();
        return reserved;
      },
      reserved: () => reserved,
      addSubject: () => undefined,
    };
    const send = () => newProcess(tickets, database).replyToTicket({ ...call, idempotency }, request);
    const hasDied = await crashAtWrite(nth, when, send);
    await send();
    const { conversations, externalIds } = await requireConsistent(ticketId, `${when} write ${nth}`);
    expect(conversations).toHaveLength(1);
    expect(externalIds).toMatchObject([
      { _id: conversations[0].externalConversationId, conversationId: conversations[0].id },
    ]);
    return hasDied;
  });
});
