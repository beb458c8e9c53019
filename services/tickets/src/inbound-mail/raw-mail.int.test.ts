import { create } from '@bufbuild/protobuf';
import { ReceiveMailRequestSchema } from '@ticketing/contracts/ticketing/tickets/v1/mail_service_pb.ts';
import { DeleteTicketRequestSchema } from '@ticketing/contracts/ticketing/tickets/v1/ticket_service_pb.ts';
import type { Database } from '@ticketing/store/connection/database.ts';
import { testCall } from '@ticketing/testkit/test-call.ts';
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest';
import { startHarness, type TicketsHarness } from '../../test/harness.ts';
import { newProcess } from '../../test/new-process.ts';
import { defaultSettings } from '../settings.ts';

let tickets: TicketsHarness;
let database: Database;
let rawMailDays = 30;
const settings = async () => ({ ...defaultSettings, fileMibPerDay: 1, rawMailDays });

beforeAll(async () => {
  tickets = await startHarness({ settings });
  database = await tickets.openDatabase();
});
afterEach(() => {
  rawMailDays = 30;
  vi.restoreAllMocks();
});
afterAll(async () => {
  await database.close();
  await tickets.stop();
});

const system = testCall({ kind: 'service', service: 'tickets' });
let lastId = 0;

/** A mail with a file, in a charset that its header does not name. */
function mailWith({ answers = '', text = 'Grüße' } = {}): Uint8Array {
  const id = `<${++lastId}@mail.example.com>`;
  const lines = [
    ...['From: Kim <kim@example.com>', 'To: desk@example.org', 'Subject: Meter', `Message-ID: ${id}`],
    ...(answers === '' ? [] : [`In-Reply-To: ${answers}`]),
    ...['MIME-Version: 1.0', 'Content-Type: multipart/mixed; boundary=b', '', '--b'],
    ...['Content-Type: text/plain; charset=iso-8859-1', 'Content-Transfer-Encoding: 8bit', '', text, '--b'],
    ...['Content-Type: application/pdf; name=a.pdf', 'Content-Transfer-Encoding: 8bit', '', '%PDF-1.4', '--b--', ''],
  ];
  return Buffer.from(lines.join('\r\n'), 'latin1');
}

const processNow = (hours = 0) => newProcess(tickets, database, hours, { settings });

async function receive(mail: Uint8Array, call = system) {
  const { ticketId, conversationId } = await processNow().receiveMail(call, create(ReceiveMailRequestSchema, { mail }));
  return { ticketId, conversationId, path: `/ticket/${ticketId}/conversation/${conversationId}/raw` };
}

const get = (path: string, headers: Record<string, string> = {}, caller: object = { permissions: ['readRawMail'] }) =>
  tickets.request('GET', path, { headers, caller });
const count = (name: string) => tickets.database.collection(name).countDocuments();
const again = (conversationId: number, caller: object = { roleId: 1 }) =>
  tickets.rpc('MailService/ReadMailAgain', { conversationId }, caller);

/** Stores other texts for a mail, as an earlier version that could not read it has. */
async function garble({ ticketId, conversationId }: { ticketId: number; conversationId: number }): Promise<void> {
  const texts = { body: 'Gr??e', bodyPlain: 'Gr??e', bodyClean: 'Gr??e' };
  const collection = <Id>(name: string) => tickets.database.collection<{ _id: Id }>(name);
  await collection<number>('tickets').updateOne({ _id: ticketId, openingMessageId: conversationId }, { $set: texts });
  await collection<number>('conversations').updateOne({ _id: conversationId }, { $set: texts });
}

describe('GET /ticket/{id}/conversation/{cid}/raw', () => {
  test('sends the bytes of the first mail of a ticket and of an answer, for download', async () => {
    const mail = mailWith();
    const first = await receive(mail);
    const answer = mailWith({ answers: `<${lastId}@mail.example.com>` });
    const second = await receive(answer);
    expect(second.ticketId).toBe(first.ticketId);
    for (const [{ path, conversationId }, bytes] of [
      [first, mail],
      [second, answer],
    ] as const) {
      const response = await get(path);
      expect(response.status).toBe(200);
      expect(response.bytes.equals(Buffer.from(bytes))).toBe(true);
      expect(response.headers.get('content-type')).toBe('message/rfc822');
      expect(response.headers.get('content-disposition')).toBe(`attachment; filename=mail-${conversationId}.eml`);
      expect(response.headers.get('x-content-type-options')).toBe('nosniff');
    }
    const part = await get(first.path, { range: 'bytes=0-3' });
    expect([part.status, part.bytes.toString()]).toEqual([206, 'From']);
  });

  test('needs the right readRawMail', async () => {
    const { path } = await receive(mailWith());
    expect((await get(path, {}, {})).status).toBe(403);
    expect((await get(path, {}, { roleId: 1 })).status).toBe(200);
  });

  test('finds no raw mail of another ticket, of another message, or of none', async () => {
    const { conversationId } = await receive(mailWith());
    const body = { channel: 'email', from: 'a@example.com', body: 'x', subject: 'x' };
    const { json } = await tickets.request('POST', '/ticket', { body });
    const [{ id }] = (await get(`/ticket/${json.id}/conversation`)).json.conversations;
    for (const [path, reason] of [
      [`/ticket/${json.id}/conversation/${conversationId}/raw`, 'conversation_not_found'],
      [`/ticket/${json.id}/conversation/${id}/raw`, 'raw_mail_not_found'],
      [`/ticket/999999/conversation/${id}/raw`, 'ticket_not_found'],
    ] as const) {
      const response = await get(path);
      expect([response.status, response.json.code]).toEqual([404, reason]);
    }
  });
});

describe('a raw mail is not kept', () => {
  test('if the setting rawMailDays is 0', async () => {
    rawMailDays = 0;
    expect((await get((await receive(mailWith())).path)).json.code).toBe('raw_mail_not_found');
  });

  test('if a person has no room for it, who can still import the mail', async () => {
    const person = testCall({ profileId: 7 });
    const text = 'x'.repeat(700_000);
    expect((await get((await receive(mailWith({ text }), person)).path)).status).toBe(200);
    const { ticketId, path } = await receive(mailWith({ text }), person);
    expect((await get(path)).json.code).toBe('raw_mail_not_found');
    const { json } = await get(`/ticket/${ticketId}`);
    expect([json.body.length, json.attachments.length]).toEqual([text.length, 1]);
  });

  test('longer than the setting says', async () => {
    const { ticketId, path } = await receive(mailWith());
    const runTasks = async (hours: number) => {
      for (const { run } of processNow(hours).tasks) await run();
    };
    await runTasks(30 * 24 - 1);
    expect((await get(path)).status).toBe(200);
    await runTasks(30 * 24 + 1);
    expect((await get(path)).json.code).toBe('raw_mail_not_found');
    const { json } = await get(`/ticket/${ticketId}`);
    expect((await get(json.attachments[0].url)).status).toBe(200);
  });

  test('after its ticket was deleted', async () => {
    const before = await Promise.all(['fileRecords', 'files.chunks'].map(count));
    const { ticketId } = await receive(mailWith());
    await processNow().deleteTicket(testCall({ roleId: 1 }), create(DeleteTicketRequestSchema, { ticketId }));
    for (const { run } of processNow().tasks) await run();
    expect(await Promise.all(['fileRecords', 'files.chunks'].map(count))).toEqual(before);
  });

  test('after a file that came in it was deleted', async () => {
    const first = await receive(mailWith());
    const second = await receive(mailWith({ answers: `<${lastId}@mail.example.com>` }));
    const { conversations } = (await get(`/ticket/${first.ticketId}/conversation`)).json;
    await tickets.request('DELETE', conversations[1].attachments[0].url, { caller: { roleId: 1 } });
    expect((await get(second.path)).json.code).toBe('raw_mail_not_found');
    expect((await get(first.path)).status).toBe(200);
    await tickets.request('DELETE', conversations[0].attachments[0].url, { caller: { roleId: 1 } });
    expect((await get(first.path)).json.code).toBe('raw_mail_not_found');
  });
});

describe('MailService/ReadMailAgain', () => {
  test('replaces the text and the files of the first message of a ticket, which else stays as it is', async () => {
    const received = await receive(mailWith());
    const { ticketId, conversationId } = received;
    await tickets.request('PATCH', `/ticket/${ticketId}`, { body: { status: 'closed', subject: 'Heating' } });
    await garble(received);
    const before = (await get(`/ticket/${ticketId}`)).json;
    expect(await again(conversationId)).toEqual([200, { ticketId }]);
    const { attachments, ...ticket } = (await get(`/ticket/${ticketId}`)).json;
    const { attachments: dropped, ...kept } = before;
    const texts = { body: 'Grüße', bodyClean: 'Grüße', bodyPlain: 'Grüße' };
    expect(ticket).toEqual({ ...kept, ...texts, version: before.version + 1, modifiedAt: ticket.modifiedAt });
    expect(attachments).toMatchObject([{ name: 'a.pdf', size: 8 }]);
    expect((await get(dropped[0].url)).status).toBe(404);
    expect((await get(attachments[0].url)).bytes.toString()).toBe('%PDF-1.4');
  });

  test('replaces those of an answer, with one version and one event of its ticket', async () => {
    const { ticketId } = await receive(mailWith());
    const received = await receive(mailWith({ answers: `<${lastId}@mail.example.com>` }));
    await tickets.request('PATCH', `/ticket/${ticketId}`, { body: { status: 'closed' } });
    await garble(received);
    const collection = tickets.database.collection<{ _id: number }>('tickets');
    await collection.updateOne({ _id: ticketId }, { $set: { messageWords: ['garbled'] } });
    const before = (await get(`/ticket/${ticketId}`)).json;
    const events = (await tickets.documentOf(ticketId)).outbox.length;
    expect(await again(received.conversationId)).toEqual([200, { ticketId }]);
    const { outbox, messageWords } = await tickets.documentOf(ticketId);
    expect([messageWords.includes('grusse'), messageWords.includes('garbled')]).toEqual([true, false]);
    expect(outbox).toHaveLength(events + 1);
    expect(outbox.at(-1)).toMatchObject({
      type: 'ticket.updated',
      conversationId: received.conversationId,
      changes: [],
    });
    expect((await get(`/ticket/${ticketId}`)).json).toMatchObject({
      ...{ status: 'closed', version: before.version + 1, lastMessageAt: before.lastMessageAt, body: before.body },
    });
    const { conversations } = (await get(`/ticket/${ticketId}/conversation`)).json;
    expect(conversations.map(({ id, body }: { id: number; body: string }) => [id, body])).toEqual([
      [expect.any(Number), 'Grüße'],
      [received.conversationId, 'Grüße'],
    ]);
    expect(conversations[1].attachments).toHaveLength(1);
  });

  test('refuses a mail that is no longer kept, an unknown message, and a caller without the right', async () => {
    const { conversationId } = await receive(mailWith());
    expect((await again(conversationId, {}))[0]).toBe(403);
    for (const { run } of processNow(31 * 24).tasks) await run();
    for (const id of [conversationId, 999_999]) {
      expect(await again(id)).toEqual([400, expect.objectContaining({ code: 'failed_precondition' })]);
    }
  });
});
