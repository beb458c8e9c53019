import { createClient } from '@connectrpc/connect';
import { createConnectTransport } from '@connectrpc/connect-node';
import { AnalysisService } from '@ticketing/contracts/ticketing/tickets/v1/analysis_service_pb.ts';
import { DeliveryStatus } from '@ticketing/contracts/ticketing/tickets/v1/conversation_pb.ts';
import { ConfidenceColor, TicketIntentStatus } from '@ticketing/contracts/ticketing/tickets/v1/intent_pb.ts';
import { serviceCaller } from '@ticketing/service-kit/identity/caller.ts';
import { reply as response, type SmtpReceiver, startSmtpReceiver } from '@ticketing/testkit/smtp-receiver.ts';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startHarness, type TicketsHarness } from '../../test/harness.ts';
import { newProcess } from '../../test/new-process.ts';
import { defaultSettings } from '../settings.ts';
import { openTicketStores } from '../stores.ts';

let tickets: TicketsHarness;
let server: SmtpReceiver;
let accept: () => void | Promise<void> = () => undefined;

beforeAll(async () => {
  server = await startSmtpReceiver({ accept: () => accept() });
  tickets = await startHarness({
    variables: { ROLES: 'api,mailer', MAIL_FOLDER: '', SMTP_URL: `smtp://127.0.0.1:${server.port}` },
    settings: async () => ({ ...defaultSettings, mailFrom: 'desk@example.org' }),
  });
});
afterAll(async () => {
  await tickets.stop();
  await server.close();
});

const patience = { timeout: 30_000 };
const path = (ticketId: number, rest: string) => `/ticket/${ticketId}/conversation/${rest}`;

async function replied() {
  const ticket = { channel: 'email', from: 'kim@example.com', subject: 'Meter' };
  const { id: ticketId } = (await tickets.request('POST', '/ticket', { body: ticket })).json;
  const body = { content: { message: 'Done.', type: 'text' } };
  const { id: conversationId } = (await tickets.request('POST', path(ticketId, 'reply'), { body })).json;
  return { ticketId, conversationId };
}

/** Records an execution that has written a message. */
async function record({ ticketId, conversationId }: { ticketId: number; conversationId: number }): Promise<void> {
  const token = await tickets.identity.internalToken('tickets', serviceCaller('intents'), 'intents');
  const transport = createConnectTransport({
    baseUrl: tickets.url,
    httpVersion: '1.1',
    interceptors: [
      (next) => (request) => {
        request.header.set('authorization', `Bearer ${token}`);
        return next(request);
      },
    ],
  });
  const outcome = { responseCode: 'ok', aiAgentId: 4, success: true, txId: 't-1', sent: true };
  const intent = {
    ...{ id: 7, aiAgentId: 4, code: 'a', name: 'A', confidenceColor: ConfidenceColor.SUCCESS },
    status: TicketIntentStatus.EXECUTED,
    outcome: { ...outcome, conversationId, deliveryStatus: DeliveryStatus.QUEUED },
  };
  const request = { ticketId, executionId: `x-${conversationId}`, intentId: 7, intents: [intent] };
  await createClient(AnalysisService, transport).recordExecution(request);
}

const read = async (ticketId: number) => (await tickets.request('GET', `/ticket/${ticketId}`)).json;
const shown = async (ticketId: number) => (await read(ticketId)).intents[0].outcome.deliveryStatus;

test('the outcome of an execution shows how its message goes, without a version of the ticket', async () => {
  let release = () => {};
  const released = new Promise<void>((resolve) => {
    release = resolve;
  });
  accept = () => released;
  const message = await replied();
  await record(message);
  const before = await read(message.ticketId);
  expect(before.intents[0].outcome).toMatchObject({ conversationId: message.conversationId, deliveryStatus: 'queued' });
  release();
  await expect.poll(() => shown(message.ticketId), patience).toBe('sent');
  expect((await read(message.ticketId)).version).toBe(before.version);
});

test('an execution that is recorded after its message was sent shows that', async () => {
  accept = () => undefined;
  const message = await replied();
  const status = async () =>
    (await tickets.request('GET', path(message.ticketId, String(message.conversationId)))).json.deliveryStatus;
  await expect.poll(status, patience).toBe('sent');
  await record(message);
  expect(await shown(message.ticketId)).toBe('sent');
});

test('a message that fails and is sent again is shown so', async () => {
  accept = () => Promise.reject(response(554, 'refused'));
  const message = await replied();
  await record(message);
  await expect.poll(() => shown(message.ticketId), patience).toBe('failed');
  accept = () => undefined;
  const resend = path(message.ticketId, `${message.conversationId}/resend`);
  expect((await tickets.request('POST', resend)).status).toBe(202);
  await expect.poll(() => shown(message.ticketId), patience).toBe('sent');
});

test('a ticket does not go back to an earlier state of its message', async () => {
  const message = await replied();
  await record(message);
  await expect.poll(() => shown(message.ticketId), patience).toBe('sent');
  const database = await tickets.openDatabase();
  const { tickets: store } = openTicketStores(
    database.connection,
    () => undefined,
    async () => [],
  );
  const earlier = { status: DeliveryStatus.QUEUED, revision: 0 };
  await store.setDelivery(message.ticketId, message.conversationId, earlier);
  await database.close();
  expect(await shown(message.ticketId)).toBe('sent');
});

test('the state of a message whose mailer has died before it reported is reported by the scheduler', async () => {
  const message = await replied();
  await record(message);
  await expect.poll(() => shown(message.ticketId), patience).toBe('sent');
  const messages = tickets.database.collection<{ _id: number }>('conversations');
  const change = { deliveryStatus: 'failed', isReported: false };
  await messages.updateOne({ _id: message.conversationId }, { $set: change, $inc: { deliveryRevision: 1 } });
  const database = await tickets.openDatabase();
  for (const { name, run } of newProcess(tickets, database).tasks) if (name === 'show deliveries') await run();
  await database.close();
  expect(await shown(message.ticketId)).toBe('failed');
  expect(await messages.findOne({ _id: message.conversationId })).toMatchObject({ isReported: true });
});
