import { create } from '@bufbuild/protobuf';
import { DeleteAttachmentRequestSchema } from '@ticketing/contracts/ticketing/tickets/v1/attachment_service_pb.ts';
import { DeleteConversationRequestSchema } from '@ticketing/contracts/ticketing/tickets/v1/conversation_service_pb.ts';
import {
  CreateTicketRequestSchema,
  DeleteTicketRequestSchema,
} from '@ticketing/contracts/ticketing/tickets/v1/ticket_service_pb.ts';
import { attachFiles, claimFiles } from '@ticketing/files/attach-files.ts';
import type { Database } from '@ticketing/store/connection/database.ts';
import { crashAtEachWrite, crashAtWrite } from '@ticketing/testkit/crash.ts';
import { seededBytes } from '@ticketing/testkit/seed.ts';
import { testCall } from '@ticketing/testkit/test-call.ts';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import { startHarness, type TicketsHarness } from '../../test/harness.ts';
import { newProcess } from '../../test/new-process.ts';
import { sweepTicketFiles } from './attachments.ts';

const call = testCall({ roleId: 1 });
const bytes = seededBytes(1024 * 1024 + 1);
const file = { name: 'a', base64: bytes.toString('base64') };
let tickets: TicketsHarness;
let database: Database;

beforeAll(async () => {
  tickets = await startHarness();
  database = await tickets.openDatabase();
});
beforeEach(clear);
afterEach(() => vi.restoreAllMocks());
afterAll(async () => {
  await database.close();
  await tickets.stop();
});

async function post(body: object = {}): Promise<{ id: number; urls: string[] }> {
  const { json } = await tickets.request('POST', '/ticket', {
    body: { channel: 'chat', attachments: [file], ...body },
  });
  return { id: json.id, urls: json.attachments.map(({ url }: { url: string }) => url) };
}

/** Runs all scheduled tasks as another process would, some hours later. */
async function runTasks(hoursFromNow: number): Promise<void> {
  for (const { run } of newProcess(tickets, database, hoursFromNow).tasks) await run();
}

/** Checks that exactly the files that tickets list are stored, whole, and that none is left to be checked. */
async function expectOnlyListedFiles(message: string): Promise<void> {
  const documents = await tickets.database.collection('tickets').find().toArray();
  const listed = documents.flatMap(({ attachments = [] }) => attachments.map(({ key }: { key: string }) => key)).sort();
  const keysIn = async (name: string, field: string) =>
    ((await tickets.database.collection(name).distinct(field)) as string[]).sort();
  expect(await keysIn('fileRecords', '_id'), message).toEqual(listed);
  expect(await keysIn('files.chunks', 'files_id'), message).toEqual(listed);
  expect(await tickets.database.collection('fileRecords').countDocuments({ checkAt: { $exists: true } })).toBe(0);
  for (const { _id, attachments = [] } of documents) {
    for (const { id } of attachments) {
      const read = await tickets.request('GET', `/ticket/${_id}/attachment/${id}`);
      expect(read.bytes.equals(bytes), message).toBe(true);
    }
  }
}

async function clear(): Promise<void> {
  for (const name of ['tickets', 'fileRecords', 'files.chunks']) await tickets.database.collection(name).deleteMany({});
}

describe('a process that dies between any two writes leaves no file that nothing lists, and every listed one is whole:', () => {
  // guarantee: I16
  test('a creation', async () => {
    const request = create(CreateTicketRequestSchema, { channel: 6, attachments: [file, file] });
    const steps = await crashAtEachWrite(async (nth, when) => {
      const hasDied = await crashAtWrite(nth, when, () => newProcess(tickets, database).createTicket(call, request));
      await runTasks(2);
      await expectOnlyListedFiles(`${when} write ${nth}`);
      await clear();
      return hasDied;
    });
    // Of each file a record and two chunks; then the ticket.
    expect(steps).toBeGreaterThanOrEqual(7);
  });

  test('an update that adds a file', async () => {
    let attempts = 0;
    await crashAtEachWrite(async (nth, when) => {
      const externalTicketId = `mehr-${attempts++}`;
      await post({ externalTicketId });
      const request = create(CreateTicketRequestSchema, { channel: 6, externalTicketId, attachments: [file] });
      const hasDied = await crashAtWrite(nth, when, () => newProcess(tickets, database).createTicket(call, request));
      await runTasks(2);
      await expectOnlyListedFiles(`${when} write ${nth}`);
      await clear();
      return hasDied;
    });
  });

  // guarantee: I16
  test('the deletion of a file', async () => {
    const steps = await crashAtEachWrite(async (nth, when) => {
      const { id, urls } = await post({ attachments: [file, file] });
      // Both files are known to be listed, as they are an hour after they were stored.
      await runTasks(2);
      const request = create(DeleteAttachmentRequestSchema, {
        ticketId: id,
        attachmentId: urls[0]?.split('/').at(-1) ?? '',
      });
      const work = () => newProcess(tickets, database).deleteAttachment(call, request);
      const hasDied = await crashAtWrite(nth, when, work);
      if (hasDied && (await tickets.request('GET', `/ticket/${id}`)).json.attachments.length === 2) await work();
      await runTasks(4);
      await expectOnlyListedFiles(`${when} write ${nth}`);
      expect((await tickets.request('GET', `/ticket/${id}`)).json.attachments).toHaveLength(1);
      await clear();
      return hasDied;
    });
    expect(steps).toBeGreaterThanOrEqual(5);
  });

  // spec: 25.8
  // guarantee: I16
  test('the deletion of a ticket', async () => {
    await crashAtEachWrite(async (nth, when) => {
      const { id } = await post();
      const request = create(DeleteTicketRequestSchema, { ticketId: id });
      const hasDied = await crashAtWrite(nth, when, () => newProcess(tickets, database).deleteTicket(call, request));
      // Not an hour later, but at once, because the ticket is gone.
      await runTasks(0);
      const isDeleted = (await tickets.request('GET', `/ticket/${id}`)).status === 404;
      if (isDeleted) expect(await tickets.database.collection('files.chunks').countDocuments()).toBe(0);
      await sweepTicketFiles(newProcess(tickets, database, 2));
      await expectOnlyListedFiles(`${when} write ${nth}`);
      await clear();
      return hasDied;
    });
  });
});

describe('a file that was stored and is not listed', () => {
  test('stays for an hour, in which its writer can still list it', async () => {
    const context = newProcess(tickets, database);
    const attachments = await attachFiles(
      context,
      call,
      create(CreateTicketRequestSchema, { attachments: [file] }).attachments,
    );
    await sweepTicketFiles(newProcess(tickets, database, 0.99));
    expect(await tickets.database.collection('fileRecords').countDocuments()).toBe(1);
    await sweepTicketFiles(newProcess(tickets, database, 1.01));
    await expectOnlyListedFiles('after an hour');
    await expect(claimFiles(context, 1, attachments)).rejects.toMatchObject({ reason: 'concurrent_change' });
  });

  test('stays for good if a draft lists it, and goes with the draft of a process that died', async () => {
    const { id } = await post({ attachments: [] });
    const content = { message: 'Hallo', type: 'text' };
    const body = { content, isDraft: true, attachments: [file] };
    const draft = (await tickets.request('POST', `/ticket/${id}/conversation/reply`, { body })).json;
    await sweepTicketFiles(newProcess(tickets, database, 2));
    const records = tickets.database.collection('fileRecords');
    expect(await records.countDocuments({ checkAt: { $exists: false } })).toBe(1);
    const request = create(DeleteConversationRequestSchema, { ticketId: id, conversationId: draft.id });
    // The file is released, the draft is marked, and taken out of the ticket; then the process dies.
    await crashAtWrite(3, 'after', () => newProcess(tickets, database).deleteConversation(call, request));
    expect(await records.countDocuments()).toBe(1);
    await sweepTicketFiles(newProcess(tickets, database, 2));
    expect(await records.countDocuments()).toBe(0);
  });

  // guarantee: I16
  test('does not survive its ticket, whose deletion came while it was written', async () => {
    const externalTicketId = 'weg';
    const { id } = await post({ externalTicketId });
    const context = newProcess(tickets, database);
    const files = context.files;
    const request = create(CreateTicketRequestSchema, { channel: 6, externalTicketId, attachments: [file] });
    let isDeleted = false;
    const { assign } = files;
    files.assign = async (keys, ticketId) => {
      const isAssigned = await assign(keys, ticketId);
      if (!isDeleted) {
        isDeleted = true;
        await tickets.request('DELETE', `/ticket/${id}`, { caller: { roleId: 1 } });
      }
      return isAssigned;
    };
    // The ticket is created again, under another id; its file was removed with the ticket that it was assigned to.
    await expect(context.createTicket(call, request)).rejects.toMatchObject({ reason: 'concurrent_change' });
    await runTasks(2);
    await expectOnlyListedFiles('after the deletion');
    await clear();
  });
});

test('files of many tickets are checked in batches', async () => {
  const ids: number[] = [];
  for (let index = 0; index < 13; index++) {
    const attachments = Array.from({ length: 20 }, () => ({ base64: '' }));
    ids.push((await post({ attachments })).id);
  }
  await tickets.database.collection<{ _id: number }>('tickets').deleteOne({ _id: ids[0] ?? 0 });
  await sweepTicketFiles(newProcess(tickets, database, 2));
  expect(await tickets.database.collection('fileRecords').countDocuments()).toBe(240);
  expect(await tickets.database.collection('fileRecords').countDocuments({ checkAt: { $exists: true } })).toBe(0);
  await clear();
});
