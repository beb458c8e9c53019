import { create } from '@bufbuild/protobuf';
import {
  ReadMailAgainRequestSchema,
  ReceiveMailRequestSchema,
} from '@ticketing/contracts/ticketing/tickets/v1/mail_service_pb.ts';
import type { Database } from '@ticketing/store/connection/database.ts';
import { crashAtEachWrite, crashAtWrite } from '@ticketing/testkit/crash.ts';
import { testCall } from '@ticketing/testkit/test-call.ts';
import { afterAll, afterEach, beforeAll, expect, test, vi } from 'vitest';
import { startHarness, type TicketsHarness } from '../../test/harness.ts';
import { newProcess } from '../../test/new-process.ts';

let tickets: TicketsHarness;
let database: Database;
let lastId = 0;

beforeAll(async () => {
  tickets = await startHarness();
  database = await tickets.openDatabase();
});
afterEach(() => vi.restoreAllMocks());
afterAll(async () => {
  await database.close();
  await tickets.stop();
});

const call = testCall({ roleId: 1 });
const get = (path: string) => tickets.request('GET', path, { caller: { roleId: 1 } });
const rawRecords = () =>
  tickets.database
    .collection('fileRecords')
    .find({ part: { $exists: true } })
    .toArray();

/** A mail with a file. */
function mailWith(answers?: string): { id: string; mail: Uint8Array } {
  const id = `<${++lastId}@mail.example.com>`;
  const lines = [
    ...['From: Kim <kim@example.com>', `Message-ID: ${id}`, ...(answers ? [`In-Reply-To: ${answers}`] : [])],
    ...['MIME-Version: 1.0', 'Content-Type: multipart/mixed; boundary=b', '', '--b', '', 'Hello', '--b'],
    ...['Content-Type: application/pdf; name=a.pdf', '', '%PDF-1.4', '--b--', ''],
  ];
  return { id, mail: Buffer.from(lines.join('\r\n')) };
}

const receive = (mail: Uint8Array) =>
  newProcess(tickets, database).receiveMail(call, create(ReceiveMailRequestSchema, { mail }));

/** Runs the scheduled tasks two hours later, when every abandoned write is swept. */
async function sweep(): Promise<void> {
  for (const { run } of newProcess(tickets, database, 2).tasks) await run();
}

// guarantee: I16
test.each([false, true])(
  'a process that dies while it takes in a mail leaves the raw mails of just those messages that a ticket has; as an answer: %s',
  async (isAnswer) => {
    const first = mailWith();
    await receive(first.mail);
    const steps = await crashAtEachWrite(async (nth, when) => {
      const { mail } = mailWith(isAnswer ? first.id : undefined);
      const hasDied = await crashAtWrite(nth, when, () => receive(mail));
      const { ticketId, conversationId } = await receive(mail);
      await sweep();
      const raw = await get(`/ticket/${ticketId}/conversation/${conversationId}/raw`);
      expect(raw.bytes.equals(Buffer.from(mail)), `${when} write ${nth}`).toBe(true);
      for (const { ownerId, part } of await rawRecords()) {
        const { status } = await get(`/ticket/${ownerId}/conversation/${part.id}`);
        expect(status, `${when} write ${nth}`).toBe(200);
      }
      return hasDied;
    });
    expect(steps).toBeGreaterThan(8);
  },
);

// guarantee: I16
test('a mail that is read again leaves no file that nothing lists if its process dies, and has its effect the next time', async () => {
  const { ticketId, conversationId } = await receive(mailWith().mail);
  const steps = await crashAtEachWrite(async (nth, when) => {
    const documents = tickets.database.collection<{ _id: number }>('tickets');
    await documents.updateOne({ _id: ticketId }, { $set: { body: '?' } });
    const again = () =>
      newProcess(tickets, database).readMailAgain(call, create(ReadMailAgainRequestSchema, { conversationId }));
    const hasDied = await crashAtWrite(nth, when, again);
    if (hasDied) await again();
    await sweep();
    expect((await get(`/ticket/${ticketId}`)).json.body, `${when} write ${nth}`).toBe('Hello');
    const stored = await tickets.database.collection('fileRecords').countDocuments({ ownerId: ticketId });
    expect(stored, `${when} write ${nth}`).toBe(2);
    return hasDied;
  });
  expect(steps).toBeGreaterThan(5);
});
