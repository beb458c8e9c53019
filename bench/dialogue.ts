import { randomUUID } from 'node:crypto';
import type { BareProcess } from './bare-process.ts';
import {
  type Address,
  type BenchPlan,
  call,
  compareWithBare,
  measure,
  type NextRequest,
  pickAny,
  send,
} from './load.ts';
import type { BenchSystem } from './system.ts';
import type { Figure } from './table.ts';

/** The names of the measurements of dialogues on the command line. */
export const dialogueNames = ['dialogue', 'mails'] as const;

const ticketCount = 100;
const messageCount = 20;
const fileCount = 5;
const mailCount = 2_000;
const connections = 16;

/** Measures reads of tickets with messages and files, as a share of bare routes, and how fast mails are taken in. */
export async function measureDialogue(system: BenchSystem, bare: BareProcess, plan: BenchPlan): Promise<Figure[]> {
  const { seconds, only, progress } = plan;
  const figures: Figure[] = [];
  if (only.includes('dialogue')) {
    progress(`${ticketCount} tickets with ${messageCount} messages and ${fileCount} attachments are created`);
    const ids = await createTickets(system);
    const anyTicket: NextRequest = () => ({ method: 'GET', path: `/ticket/${pickAny(ids)}?includeSessions=false` });
    const name = `GET /ticket with ${messageCount} messages and ${fileCount} attachments / bare route`;
    figures.push(await compareWithBare({ name, goal: { atLeast: 0.5 } }, [system, anyTicket], [bare, anyTicket], plan));
    progress('GET /ticket/{id}/conversation');
    const list: NextRequest = () => ({ method: 'GET', path: `/ticket/${pickAny(ids)}/conversation` });
    const listed = await measure(system, list, { seconds, connections });
    figures.push({ name: `lists of ${messageCount} messages per second`, value: listed.maxRate });
  }
  if (only.includes('mails')) {
    progress(`${mailCount} mails are taken in`);
    const { requests, seconds: took } = await send(mailAddress(system), nextMail(), {
      requests: mailCount,
      connections,
    });
    figures.push({ name: 'mails taken in per second, one process', value: requests / took, goal: { atLeast: 100 } });
  }
  return figures;
}

/** Creates tickets with an opening, further messages and files. Returns their ids. */
async function createTickets(system: BenchSystem): Promise<number[]> {
  const post = (path: string, body: object) => call(system, { method: 'POST', path, body });
  const base64 = Buffer.alloc(10_000, 'x').toString('base64');
  const attachments = Array.from({ length: fileCount }, (_, index) => ({ name: `file-${index}.txt`, base64 }));
  const ids: number[] = [];
  for (let nth = 0; nth < ticketCount; nth++) {
    const body = `<p>${text}</p>`;
    const { id } = await post('/ticket', {
      channel: 'email',
      from: 'kim@example.com',
      subject: 'Zähler',
      body,
      attachments,
    });
    for (let message = 1; message < messageCount; message++) {
      const direction = message % 2 === 0 ? 'in' : 'out';
      await post(`/ticket/${id}/conversation/store`, { direction, content: { type: 'html', message: body } });
    }
    ids.push(id);
  }
  return ids;
}

const text = 'Guten Tag, mein Zähler steht. '.repeat(20);

/** The address at which the tickets service takes in mails: by RPC, with the token of the caller. */
function mailAddress({ service, headers }: BenchSystem): Address {
  const port = service('tickets').environment.get('TICKETING_TICKETS_HTTP_PORT');
  return { url: `http://127.0.0.1:${port}`, headers };
}

/** Makes mails; every fifth replies to an earlier one. */
function nextMail(): NextRequest {
  const sentIds: string[] = [];
  return () => {
    const messageId = `<${randomUUID()}@example.com>`;
    const answered = sentIds.length % 5 === 4 ? sentIds.at(-100) : undefined;
    sentIds.push(messageId);
    const lines = [
      `Message-ID: ${messageId}`,
      'From: Kim Lee <kim@example.com>',
      'To: support@example.org',
      'Subject: =?UTF-8?Q?Z=C3=A4hler?=',
      ...(answered === undefined ? [] : [`In-Reply-To: ${answered}`]),
      'Content-Type: text/html; charset=utf-8',
      '',
      `<p>${text}</p>`,
    ];
    const mail = Buffer.from(lines.join('\r\n')).toString('base64');
    return { method: 'POST', path: '/ticketing.tickets.v1.MailService/ReceiveMail', body: { mail } };
  };
}
