import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import { setTimeout } from 'node:timers/promises';
import { Worker } from 'node:worker_threads';
import { services } from '@ticketing/system/services.ts';
import { developmentKeys } from '@ticketing/testkit/development-keys.ts';
import { dribbleHttp1, dribbleHttp2 } from '@ticketing/testkit/dribble.ts';
import { freePort } from '@ticketing/testkit/free-port.ts';
import { sendMail } from '@ticketing/testkit/send-mail.ts';
import { signToken } from '@ticketing/testkit/sign-token.ts';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type StartedSystem, startedSystem } from '../../tools/dev/started-system.ts';
import type { ReaderData } from './reader.ts';

const MiB = 1024 * 1024;
/** The memory that an attack may cost a process, beside what it may hold for one request: three times the most measured. */
const allowedGrowth = 200 * MiB;
/** The goal is three times the quiet p99, or 150 ms. A test fails at three times the most measured. */
const otherCallerMs = 3_600;
const attackMs = 8_000;

let system: StartedSystem;
let headers: Record<string, string>;
/** The credential of a caller who does not attack. */
let otherCaller: string;
let dripping: Server;
let mailPort: number;

beforeAll(async () => {
  const limits = 'user=1000000';
  mailPort = await freePort();
  const variables = {
    NODE_OPTIONS: '--max-old-space-size=512',
    TICKETING_GATEWAY_RATE_LIMITS: limits,
    TICKETING_KNOWLEDGE_RATE_LIMITS: limits,
    TICKETING_TICKETS_MAIL_RECEIVER_PORT: String(mailPort),
  };
  system = await startedSystem(undefined, { options: ['--split'], variables });
  headers = { authorization: `Bearer ${system.token}`, 'content-type': 'application/json' };
  otherCaller = `Bearer ${await signToken(developmentKeys(system.data).issuerKeyFile, { sub: '8', kind: 'user', roleId: 1 }, 3600)}`;
  await post('/ticket', { channel: 'email', from: 'kim@example.com', subject: 'First', body: 'Text' });
  dripping = createServer((socket) => drip(socket.on('error', () => undefined))).listen(0, '127.0.0.1');
  await once(dripping, 'listening');
  const mailbox = { channel: 'email', interface: 'imap', name: 'Attacked', data: { address: 'support@example.org' } };
  expect((await post('/settings/subchannel', mailbox)).status).toBe(201);
  const erp = [
    { name: 'erpBaseUrl', value: drippingUrl() },
    { name: 'erpAdapter', value: 'http' },
  ];
  expect((await post('/settings', { settings: erp })).status).toBe(200);
}, 300_000);
afterAll(async () => {
  dripping?.close();
  await system?.stop();
});

const post = (path: string, body: unknown) =>
  fetch(system.url + path, { method: 'POST', headers, body: JSON.stringify(body) });

/** Sends a response whose body has chunks of one byte, for as long as somebody reads it. */
function drip(socket: Socket): void {
  socket.once('data', () => {
    socket.write('HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ntransfer-encoding: chunked\r\n\r\n');
    const chunks = '1\r\na\r\n'.repeat(2000);
    const send = () => {
      while (!socket.destroyed && socket.write(chunks));
    };
    socket.on('drain', send);
    send();
  });
}

/** When each process began, and its memory: a process that died was started again. Units: bytes. */
async function observed(): Promise<Map<string, { startedAt: number; bytes: number }>> {
  const read = async (name: string) => {
    const text = await (await fetch(system.metricsUrl(name))).text();
    const value = (metric: string) => Number(new RegExp(`^${metric}(?:\\{[^}]*\\})? (\\S+)$`, 'm').exec(text)?.[1]);
    return { startedAt: value('process_start_time_seconds'), bytes: value('process_resident_memory_bytes') };
  };
  return new Map(await Promise.all(services.map(async ({ name }) => [name, await read(name)] as const)));
}

/** The most memory that each service has had until `work` ends. Units: bytes. */
async function peaksDuring(work: Promise<unknown>): Promise<Map<string, number>> {
  const peaks = new Map<string, number>();
  const over = work.then(
    () => true,
    () => true,
  );
  do {
    for (const [name, { bytes }] of await observed()) peaks.set(name, Math.max(bytes, peaks.get(name) ?? 0));
  } while (!(await Promise.race([over, setTimeout(250, false)])));
  return peaks;
}

/** How long each of another caller's reads takes until `work` ends, sorted. Units: ms. */
async function readsDuring(work: Promise<unknown>): Promise<number[]> {
  const data: ReaderData = { url: `${system.url}/ticket/1`, authorization: otherCaller };
  const reader = new Worker(new URL('./reader.ts', import.meta.url), { workerData: data });
  const read = once(reader, 'message');
  await Promise.race([work.catch(() => undefined), read]);
  reader.postMessage('stop');
  const [times] = (await read) as [number[]];
  return times.sort((one, other) => one - other);
}

const readPort = (url: string) => Number(new URL(url).port);

/** An attack that returns the response, and what the response says. */
interface Attack {
  send(): Promise<string>;
  refusal: string;
}

/** Runs an attack again and again on two connections for some seconds. Each time it is refused as it has to be. */
async function repeated({ send, refusal }: Attack): Promise<void> {
  const until = performance.now() + attackMs;
  const run = async () => {
    while (performance.now() < until) expect(await send()).toContain(refusal);
  };
  await Promise.all([run(), run()]);
}

const dribbled = (path: string, start: string): Attack => ({
  send: async () =>
    (await dribbleHttp1({ port: readPort(system.url), path, headers, start, pieces: 2 * MiB })).received,
  refusal: '"code":"too_many_pieces"',
});
const fetched = (name: string) => ({
  channel: 'email',
  from: 'a@b.de',
  subject: 'u',
  body: 'x',
  attachments: [{ name, url: drippingUrl() }],
});
const drippingUrl = () => `http://127.0.0.1:${(dripping.address() as AddressInfo).port}/x`;

/** Bodies of 40 connections at once, more than a caller may have in flight, in as many chunks as their size allows. */
const manyConnections: Attack = {
  send: async () => {
    const one = () =>
      dribbleHttp1({ port: readPort(system.url), path: '/ticket', headers, start: '{"x":"', pieces: 9_900 });
    const responses = await Promise.all(Array.from({ length: 40 }, one));
    return responses.map(({ received }) => received.slice(0, 12)).join();
  },
  refusal: 'HTTP/1.1 4',
};

let asked = 0;

/** Mails with a body. Whether one is taken in or refused, nobody else is harmed. */
const mails = (body: string): Attack => ({
  send: async () => {
    const head = `From: kim@example.com\r\nSubject: x\r\nMessage-ID: <${randomUUID()}@example.com>\r\n`;
    return (await sendMail(mailPort, ['support@example.org'], `${head}${body}`)).join();
  },
  refusal: '250,',
});
const linksMail = [
  'MIME-Version: 1.0\r\nContent-Type: multipart/mixed; boundary=b\r\n\r\n--b\r\nContent-Type: text/plain\r\n\r\nx',
  `--b\r\nContent-Type: text/html\r\n\r\n${'<a href="'.repeat(6_600)}`,
  '--b\r\nContent-Type: text/plain\r\n\r\nx\r\n--b--',
].join('\r\n');

const attacks: Record<string, Attack> = {
  'bodies of 40 connections in 9,900 chunks of one byte each': manyConnections,
  'bodies of POST /ticket in chunks of one byte': dribbled('/ticket', '{"x":"'),
  'bodies of POST /ticket/search in chunks of one byte': dribbled('/ticket/search', '{"x":"'),
  'bodies of POST /template/preview in chunks of one byte': dribbled('/template/preview', '{"message":"'),
  'messages of gRPC in frames of one byte': {
    send: async () => {
      const port = readPort(system.rpcUrl('knowledge', 'gRPC'));
      const path = '/ticketing.knowledge.v1.SkillService/ListSkills';
      const fields = { authorization: headers.authorization ?? '', 'content-type': 'application/grpc' };
      return (await dribbleHttp2({ port, path, headers: fields, start: '\0\0\0\x4f\xff', pieces: 60_000 })).received;
    },
    // A busy process reads many frames at once, as one piece; the message is then longer than its prefix says.
    refusal: 'grpc-status: 3\n',
  },
  'attachments that a server sends in chunks of one byte': {
    send: async () => (await post('/ticket', fetched('f'))).text(),
    refusal: 'TOO_MANY_PIECES',
  },
  'responses of an ERP system in chunks of one byte': {
    send: async () =>
      (await fetch(`${system.url}/erp/customers?q=kim&limit=${1 + (asked++ % 100)}`, { headers })).text(),
    refusal: '"code":"erp_unavailable"',
  },
  'mails of 12 MiB whose lines are dots': mails('\r\n..'.repeat(3 * MiB)),
  'mails of 60 KB of links': mails(linksMail),
};

/** The bytes that a process may hold for an attack, in addition to `allowedGrowth`. */
const limitsInBytes: Record<string, number> = { 'mails of 12 MiB whose lines are dots': 2 * 2 * 12 * MiB };

test.each(Object.keys(attacks))('nobody is harmed by %s', async (name) => {
  const before = await observed();
  const quiet = await readsDuring(setTimeout(2_000));
  const attack = repeated(attacks[name] ?? expect.unreachable());
  const [times, peaks] = await Promise.all([readsDuring(attack), peaksDuring(attack)]);
  await attack;
  const after = await observed();
  const p99 = (sorted: readonly number[]) => sorted[Math.ceil(sorted.length * 0.99) - 1] ?? 0;
  const growth = [...before].map(([service, { bytes }]) => [service, (peaks.get(service) ?? 0) - bytes] as const);
  const printed = growth.map(([service, bytes]) => `${service} ${(bytes / MiB).toFixed(0)}`);
  process.stdout.write(`${name}: at most ${printed.join(', ')} MiB\n`);
  process.stdout.write(`${name}: p99 ${p99(quiet).toFixed(0)} ms before, ${p99(times).toFixed(0)} ms during\n`);
  for (const [service, { startedAt }] of before)
    expect(after.get(service)?.startedAt, `${service} has died`).toBe(startedAt);
  for (const [service, bytes] of growth)
    expect(bytes - (limitsInBytes[name] ?? 0), `memory of ${service}`).toBeLessThan(allowedGrowth);
  expect(p99(times)).toBeLessThan(otherCallerMs);
});
