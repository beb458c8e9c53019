import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { create, fromBinary, toBinary } from '@bufbuild/protobuf';
import {
  ReceivedMailOutcome,
  type ReceiveMailRequest,
  ReceiveMailRequestSchema,
  ReceiveMailResponseSchema,
} from '@ticketing/contracts/ticketing/tickets/v1/mail_service_pb.ts';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { command } from '../cli/import-mail.ts';

/** Responds to a mail: with an outcome, or with a status and an error. */
type Respond = (text: string) => ReceivedMailOutcome | [status: number, message: string];

let folder: string;
let mails: string;
let printed: string[];
let server: Server;
let url: string;
let received: string[];
let requests: { path: string | undefined; type: string | undefined; message: ReceiveMailRequest }[];
let known: Set<string>;
let respond: Respond;

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'import-mail-'));
  mails = join(folder, 'mails');
  mkdirSync(join(mails, 'inner'), { recursive: true });
  printed = [];
  received = [];
  requests = [];
  known = new Set();
  respond = (text) => {
    const isKnown = known.has(text);
    known.add(text);
    if (isKnown) return ReceivedMailOutcome.ALREADY_KNOWN;
    return /^references:/im.test(text) ? ReceivedMailOutcome.MESSAGE_ADDED : ReceivedMailOutcome.TICKET_CREATED;
  };
  server = createServer(async (request, response) => {
    const parts: Buffer[] = [];
    for await (const part of request) parts.push(part);
    if (request.url === '/ticketing.tickets.v1.MailService/ReadMailAgain') {
      const isKept = Buffer.concat(parts).toString() === '{"conversationId":12}';
      response.writeHead(isKept ? 200 : 400, { 'content-type': 'application/json' });
      response.end(JSON.stringify(isKept ? { ticketId: 5 } : { code: 'failed_precondition', message: 'It is gone.' }));
      return;
    }
    const message = fromBinary(ReceiveMailRequestSchema, Buffer.concat(parts));
    const text = Buffer.from(message.mail).toString();
    received.push(text);
    requests.push({ path: request.url, type: request.headers['content-type'], message });
    const outcome = respond(text);
    if (Array.isArray(outcome)) {
      response.writeHead(outcome[0], { 'content-type': 'application/json', 'retry-after': '0' });
      response.end(JSON.stringify({ code: 'x', message: outcome[1] }));
      return;
    }
    const fields = { ticketId: 200_000, conversationId: 300_000, outcome };
    response.writeHead(200, { 'content-type': 'application/proto' });
    response.end(toBinary(ReceiveMailResponseSchema, create(ReceiveMailResponseSchema, fields)));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});

afterEach(async () => {
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
  rmSync(folder, { recursive: true });
});

const write = (name: string, text: string) => writeFileSync(join(mails, name), text);

function run(...flags: string[]): Promise<number> {
  const print = (text: string) => printed.push(text);
  return command([mails, '--url', url, ...flags], { env: { IMPORT_TOKEN: 'x' }, print, printError: print });
}

function summary(): Record<string, string> {
  return Object.fromEntries((printed.at(-1) ?? '').split('\n').map((line) => line.split(/ {2,}| (?=\d)/)));
}

test('sends each file of a folder and its folders, answers last, without the line of an mbox', async () => {
  write('1.eml', 'From kim Thu Aug 22\nFrom: b@x.org\nMessage-ID: <b@x>\nReferences: <a@x>\n\nb\n');
  write('2', 'From: c@x.org\n\nc\n');
  write('inner/a.txt', 'From: a@x.org\nMessage-Id:\n <a@x>\n\na\n');
  respond = () => ReceivedMailOutcome.TICKET_CREATED;
  expect(await run('--concurrency', '8')).toBe(0);
  for (const { path, type, message } of requests) {
    expect([path, type]).toEqual(['/ticketing.tickets.v1.MailService/ReceiveMail', 'application/proto']);
    expect([message.keepDate, message.subchannelId]).toEqual([true, undefined]);
  }
  const order = received.map((text) => text.slice(6, 7));
  expect(order.toSorted()).toEqual(['a', 'b', 'c']);
  expect(order.indexOf('b')).toBeGreaterThan(order.indexOf('a'));
  expect(summary()).toMatchObject({ files: '3', tickets: '3', refused: '0', 'not sent': '0' });
});

test('counts every file once, lists what is refused, and changes nothing in a second run', async () => {
  write('1', 'From: a@x.org\n\nticket');
  write('2', 'From: a@x.org\nReferences: <x@y>\n\nadded');
  write('3', 'no mail');
  const standard = respond;
  respond = (text) => (text === 'no mail' ? [400, 'The mail has no sender.'] : standard(text));
  expect(await run()).toBe(2);
  expect(summary()).toMatchObject({ files: '3', tickets: '1', added: '1', 'already known': '0', refused: '1' });
  const rejects = `${mails}.rejects.csv`;
  expect(readFileSync(rejects, 'utf8')).toContain(`400 The mail has no sender.,${join(mails, '3')}`);
  rmSync(join(mails, '3'));
  expect(await run()).toBe(0);
  expect(summary()).toMatchObject({ files: '2', tickets: '0', added: '0', 'already known': '2', refused: '0' });
  expect(existsSync(rejects)).toBe(false);
});

test('prints one sentence and no counts if the server cannot be reached', async () => {
  write('1', 'From: a@x.org\n\nx');
  url = 'http://127.0.0.1:1';
  expect(await run()).toBe(1);
  expect(printed).toEqual([expect.stringMatching(/^Cannot reach http:\/\/127\.0\.0\.1:1 \(ECONNREFUSED\)[^\n]*$/)]);
});

test('sends again what the server could not take, and refuses what is larger than 40 MiB itself', async () => {
  write('1', 'From: a@x.org\n\nx');
  writeFileSync(join(mails, 'large'), Buffer.alloc(40 * 1024 * 1024, 'x'));
  let attempts = 0;
  respond = () => {
    attempts += 1;
    return attempts < 3 ? [503, 'busy'] : ReceivedMailOutcome.TICKET_CREATED;
  };
  expect(await run()).toBe(2);
  expect(attempts).toBe(3);
  expect(summary()).toMatchObject({ files: '2', tickets: '1', refused: '1' });
});

test('passes on the mailbox and whether the date is kept, and sends only as many as asked', async () => {
  for (const name of ['1', '2', '3']) write(name, `From: a@x.org\n\n${name}`);
  expect(await run('--subchannel', '7', '--now', '--limit', '2')).toBe(0);
  expect(requests.map(({ message }) => [message.keepDate, message.subchannelId])).toEqual([
    [false, 7],
    [false, 7],
  ]);
});

test('sends nothing in a dry run', async () => {
  write('1', 'From: a@x.org\nMessage-ID: <a@x>\n\nx');
  write('2', 'From: a@x.org\nIn-Reply-To: <a@x>\n\nx');
  expect(await run('--dry-run')).toBe(0);
  expect(received).toEqual([]);
  expect(summary()).toMatchObject({ files: '2', 'without a Message-ID': '1', 'answers to others': '1' });
});

test('says what is wrong with the command', async () => {
  write('1', 'From: a@x.org\n\nx');
  expect(await run('--subchannel', '0')).toBe(1);
  expect(await command([], { env: {}, print: () => undefined, printError: (text) => printed.push(text) })).toBe(1);
  respond = () => [401, 'no'];
  expect(await run()).toBe(1);
  rmSync(join(mails, '1'));
  expect(await run()).toBe(1);
  expect(printed.filter((text) => !text.includes('\n'))).toEqual([
    expect.stringContaining('--subchannel takes a whole number'),
    expect.stringContaining('Name one folder'),
    expect.stringContaining('does not accept the token'),
    expect.stringContaining('There is no file'),
  ]);
});

test('--again has one mail read again, and says why it was not', async () => {
  const print = (text: string) => printed.push(text);
  const again = (...words: string[]) =>
    command([...words, '--url', url], { env: { IMPORT_TOKEN: 'x' }, print, printError: print });
  expect([await again('--again', '12'), await again('--again', '13')]).toEqual([0, 2]);
  expect(printed).toEqual(['Message 12 of ticket 5 was read again.', 'Message 13 was not read again: 400 It is gone.']);
  for (const words of [
    ['--again', 'x'],
    [mails, '--again', '12'],
  ])
    expect(await again(...words)).toBe(1);
});
