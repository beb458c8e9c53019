import { once } from 'node:events';
import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { create } from '@bufbuild/protobuf';
import { CreateTicketRequestSchema } from '@ticketing/contracts/ticketing/tickets/v1/ticket_service_pb.ts';
import { outboundGuard } from '@ticketing/outbound/outbound-guard.ts';
import type { Database } from '@ticketing/store/connection/database.ts';
import { seededBytes } from '@ticketing/testkit/seed.ts';
import { testCall } from '@ticketing/testkit/test-call.ts';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { startHarness, type TicketsHarness } from '../../test/harness.ts';
import { newProcess } from '../../test/new-process.ts';

let tickets: TicketsHarness;
let database: Database;
let server: Server;
let base: string;
let respond: RequestListener;
let requested: string[] = [];

beforeAll(async () => {
  tickets = await startHarness({ variables: { OUTBOUND_ALLOW: '127.0.0.1' } });
  database = await tickets.openDatabase();
  server = createServer((request, response) => {
    requested.push(request.url ?? '');
    respond(request, response);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterEach(() => {
  requested = [];
});
afterAll(async () => {
  server.closeAllConnections();
  server.close();
  await database.close();
  await tickets.stop();
});

const MiB = 1024 * 1024;
const post = (attachments: object[]) => tickets.request('POST', '/ticket', { body: { channel: 'chat', attachments } });
const fileAt = (path: string, name = 'a.bin') => ({ name, url: `${base}${path}` });
const recordsNow = () => tickets.database.collection('fileRecords').countDocuments();

/** Returns the only violation of a refusal, and checks that no file is left. */
async function refusalOf(attachments: object[]) {
  const before = await recordsNow();
  const { status, json } = await post(attachments);
  expect(await recordsNow()).toBe(before);
  return { status, pointer: json.errors[0].pointer, code: json.code, detail: json.errors[0].detail };
}

describe('a file given by its url', () => {
  // spec: 21.16
  test('is fetched before the response, with its own type and not that of the server', async () => {
    const bytes = seededBytes(3 * MiB);
    respond = (_, response) => response.writeHead(200, { 'content-type': 'text/html' }).end(bytes);
    const { status, json } = await post([fileAt('/a?b=c', 'Bericht.dat'), { base64: '' }]);
    expect(status).toBe(200);
    expect(requested).toEqual(['/a?b=c']);
    expect(json.attachments[0]).toMatchObject({
      name: 'Bericht.dat',
      size: bytes.length,
      contentType: 'application/octet-stream',
      fileEnding: 'dat',
    });
    const read = await tickets.request('GET', json.attachments[0].url);
    expect(read.bytes.equals(bytes)).toBe(true);
  });

  test('is fetched through three redirects, and not through four', async () => {
    respond = ({ url }, response) => {
      const left = Number(url?.slice(1));
      if (left > 0) response.writeHead(302, { location: `/${left - 1}` }).end();
      else response.end('angekommen');
    };
    expect((await post([fileAt('/3')])).status).toBe(200);
    expect(await refusalOf([fileAt('/4')])).toMatchObject({
      status: 400,
      pointer: '#/attachments/0/url',
      code: 'invalid_attachment',
      detail: expect.stringContaining('TOO_MANY_REDIRECTS'),
    });
  });

  test.each([
    'http://127.0.0.2/',
    'http://169.254.169.254/latest/meta-data/',
    'https://[::1]/',
    'https://10.0.0.1/',
    'ftp://127.0.0.1/',
    // guarantee: I17
  ])('is refused if a redirect leads to %s', async (location) => {
    respond = (_, response) => response.writeHead(302, { location }).end();
    expect(await refusalOf([{ base64: '' }, fileAt('/')])).toMatchObject({
      status: 400,
      pointer: '#/attachments/1/url',
      code: 'invalid_attachment',
      detail: expect.stringMatching(/address_refused|redirect_refused/),
    });
    expect(requested).toEqual(['/']);
  });

  // guarantee: I17
  test('is refused if its name resolves to a private address, also only the second time', async () => {
    let queries = 0;
    const outbound = outboundGuard({
      allow: [],
      requireHttps: true,
      resolve: async () => (queries++ === 0 ? ['93.184.215.14'] : ['127.0.0.1']),
    });
    expect(outbound.checkUrl('https://changes.example/')).toBeUndefined();
    await expect(
      outbound.request({
        url: 'https://changes.example/',
        method: 'GET',
        deadlineMs: 1,
        maxResponseBytes: 1,
        longResponse: 'refuse',
        maxRedirects: 3,
      }),
    ).rejects.toThrow(/^(timeout|connect_failed)$/);
    const context = newProcess(tickets, database, 0, { outbound });
    const attachments = [{ name: 'a', url: 'https://changes.example/' }];
    const request = create(CreateTicketRequestSchema, { channel: 6, attachments });
    const before = await recordsNow();
    await expect(context.createTicket(testCall(), request)).rejects.toMatchObject({
      reason: 'invalid_attachment',
      violations: [{ pointer: '#/attachments/0/url', detail: expect.stringContaining('SPECIAL_ADDRESS') }],
    });
    expect(queries).toBe(2);
    expect(await recordsNow()).toBe(before);
    await outbound.close();
  });

  test.each([204, 404, 500])('is refused if the server responds with %i', async (status) => {
    respond = (_, response) => response.writeHead(status).end();
    expect(await refusalOf([fileAt('/')])).toMatchObject({
      status: 400,
      pointer: '#/attachments/0/url',
      detail: expect.stringContaining(String(status)),
    });
  });

  test('has the limits of other files, also if its length is not announced', async () => {
    const send = (bytes: number, isAnnounced: boolean): void => {
      respond = (_, response) => {
        if (isAnnounced) response.setHeader('content-length', bytes);
        response.end(Buffer.alloc(bytes));
      };
    };
    for (const isAnnounced of [true, false]) {
      send(20 * MiB + 1, isAnnounced);
      expect(await refusalOf([fileAt('/')])).toMatchObject({
        status: 413,
        pointer: '#/attachments/0/url',
        code: 'attachment_too_large',
      });
    }
    send(20 * MiB, false);
    expect((await post([fileAt('/')])).status).toBe(200);
    send(15 * MiB, false);
    const rest = (bytes: number) => ({ base64: Buffer.alloc(bytes).toString('base64') });
    expect(await refusalOf([rest(10 * MiB + 1), fileAt('/')])).toMatchObject({
      status: 413,
      pointer: '#/attachments/1/url',
      code: 'attachments_too_large',
    });
    expect((await post([rest(10 * MiB), fileAt('/')])).status).toBe(200);
    // Fetched first: what is left for the others is known only then.
    expect(await refusalOf([fileAt('/'), rest(10 * MiB + 1)])).toMatchObject({
      status: 413,
      code: 'attachments_too_large',
    });
  });
});

// guarantee: H8
test('too many files fetched at once are refused with 503, and those that were admitted are whole', async () => {
  const bytes = seededBytes(1000);
  const waiting: (() => void)[] = [];
  respond = (_, response) => waiting.push(() => response.end(bytes));
  const caller = (profileId: number) => ({ profileId });
  const body = { channel: 'chat', attachments: [fileAt('/')] };
  const sent = [1, 1, 2, 2].map((profileId) => tickets.request('POST', '/ticket', { body, caller: caller(profileId) }));
  await expect.poll(() => waiting.length).toBe(4);
  const callers = [1, 3].map((profileId) => tickets.request('POST', '/ticket', { body, caller: caller(profileId) }));
  for (const refused of await Promise.all(callers)) {
    expect([refused.status, refused.json.code, refused.headers.get('retry-after')]).toEqual([
      503,
      'too_much_at_once',
      '1',
    ]);
  }
  for (const finish of waiting) finish();
  for (const { status, json } of await Promise.all(sent)) {
    expect(status).toBe(200);
    expect((await tickets.request('GET', json.attachments[0].url)).bytes.equals(bytes)).toBe(true);
  }
});
