import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { type SmtpReceiver, startSmtpReceiver } from '@ticketing/testkit/smtp-receiver.ts';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { defaultSettings } from '../src/settings.ts';
import type { KnownSubchannel } from '../src/ticket/rules/subchannels.ts';
import { startHarness, type TicketsHarness } from './harness.ts';

/** The stages of a mail at which its mailer is killed. */
const places = ['claimed', 'received', 'being transferred', 'accepted'] as const;
type Place = (typeof places)[number];

let tickets: TicketsHarness;
let server: SmtpReceiver;
let mailer: ChildProcess | undefined;
/** Called by the mail server at each place. */
let reached: (place: Place) => void | Promise<void> = () => undefined;
const subchannels = new Map<number, KnownSubchannel>([
  [1, { enabled: true, interface: 'imap', channel: 1, name: 'Shop', address: 'help@shop.example' }],
]);

beforeAll(async () => {
  server = await startSmtpReceiver({
    onMailFrom: (_address, _session, done) => void Promise.resolve(reached('claimed')).then(() => done()),
    onRcptTo: (_address, _session, done) => void Promise.resolve(reached('being transferred')).then(() => done()),
    accept: () => reached('received'),
    onAccepted: () => reached('accepted'),
  });
  tickets = await startHarness({ settings: async () => ({ ...defaultSettings, subchannels }) });
});
afterAll(async () => {
  mailer?.kill('SIGKILL');
  await tickets.stop();
  await server.close();
});

/** Starts a process that only sends mails, as in production. */
function startMailer(): ChildProcess {
  const own = { ROLES: 'mailer', MAIL_FOLDER: '', SMTP_URL: `smtp://127.0.0.1:${server.port}` };
  const variables = Object.entries(own).map(([name, value]) => [`TICKETING_TICKETS_${name}`, value]);
  return spawn(process.execPath, [join(import.meta.dirname, '../src/main.ts')], {
    env: { ...process.env, ...tickets.environment, ...Object.fromEntries(variables) },
    stdio: ['ignore', 'inherit', 'inherit'],
  });
}

async function killMailer(): Promise<void> {
  const dying = mailer;
  mailer = undefined;
  if (!dying) return;
  dying.kill('SIGKILL');
  if (dying.exitCode === null && dying.signalCode === null) await once(dying, 'exit');
  // As if the time of its leases had passed.
  await messages().updateMany({ lease: { $ne: null } } as never, { $set: { 'lease.expiresAt': new Date(0) } });
}

const messages = () => tickets.database.collection<{ _id: number }>('conversations');
const queuedCount = () => messages().countDocuments({ deliveryStatus: 'queued' });

async function send(ticketId: number): Promise<string> {
  const body = { content: { message: 'Soon.', type: 'text' } };
  const { status, json } = await tickets.request('POST', `/ticket/${ticketId}/conversation/reply`, { body });
  expect(status).toBe(201);
  return json.conversation.externalConversationId;
}

/** Resolves a moment after the server has seen a mail at a place, in which the mailer may do what comes next. */
async function whenReached(place: Place, momentMs: number): Promise<void> {
  await new Promise<void>((resolve) => {
    reached = (seen) => {
      if (seen === place) resolve();
    };
  });
  await wait(momentMs);
}

const kills = 35;

// guarantee: F32, M3
test(`every queued mail leaves with one Message-ID, although its mailer is killed ${kills} times`, {
  timeout: 280_000,
}, async () => {
  const mail = { channel: 'email', from: 'kim@example.com', subject: 'Meter', body: 'Broken.', subchannelId: 1 };
  const { id } = (await tickets.request('POST', '/ticket', { body: mail })).json;
  const sent: string[] = [];
  for (let kill = 0; kill < kills; kill += 1) {
    const place = places[kill % places.length] ?? 'claimed';
    const seen = whenReached(place, Math.floor(kill / places.length) % 10);
    mailer ??= startMailer();
    sent.push(...(await Promise.all(Array.from({ length: 6 }, () => send(id)))));
    await seen;
    await killMailer();
  }
  const queuedAtLastKill = await queuedCount();
  reached = () => undefined;
  mailer = startMailer();
  await expect.poll(queuedCount, { timeout: 60_000 }).toBe(0);
  const received = server.mails.map(({ bytes }) => /^Message-ID: (.*)\r$/m.exec(bytes.toString())?.[1] ?? '');
  expect([...new Set(received)].sort()).toEqual([...sent].sort());
  expect(await messages().countDocuments({ deliveryStatus: 'sent' })).toBe(sent.length);
  expect(queuedAtLastKill).toBeGreaterThan(0);
  const lost = sent.filter((messageId) => !received.includes(messageId)).length;
  const summary = { kills, queued: sent.length, received: received.length, lost, queuedAtLastKill };
  process.stdout.write(`${JSON.stringify(summary)}\n`);
});
