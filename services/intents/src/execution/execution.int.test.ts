import type { ServerResponse } from 'node:http';
import { Code, ConnectError } from '@connectrpc/connect';
import {
  ContentType,
  DeliveryStatus,
  NotSentReason,
} from '@ticketing/contracts/ticketing/tickets/v1/conversation_pb.ts';
import { Channel, Priority, TicketStatus } from '@ticketing/contracts/ticketing/tickets/v1/enums_pb.ts';
import { TicketIntentStatus } from '@ticketing/contracts/ticketing/tickets/v1/intent_pb.ts';
import { golden } from '@ticketing/testkit/golden.ts';
import { holdTimer } from '@ticketing/testkit/held-timer.ts';
import { testCaller } from '@ticketing/testkit/test-identity.ts';
import { Webhook } from 'standardwebhooks';
import { afterAll, beforeAll, beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import { type ExecutionHarness, startExecutionHarness } from '../../test/execution-harness.ts';

let used: ExecutionHarness;
const options = [
  { type: 'enter', name: 'Enter', recommended: true, order: 1 },
  { type: 'ask', name: 'Ask', recommended: false, order: 2 },
];
const refused = (code: Code) => () => {
  throw new ConnectError('refused', code);
};

beforeAll(async () => {
  used = await startExecutionHarness();
});
afterAll(() => used.stop());
beforeEach(() => {
  const { model, backend } = used;
  Object.assign(model, { replies: [], records: [], validations: 0, before: () => undefined });
  Object.assign(backend, {
    requests: [],
    respond: (_: unknown, response: { end(body: string): void }) => response.end('{}'),
  });
});

/** Replaces the values of an outcome that differ each time. */
const fixed = (outcome: Record<string, unknown>) => ({ ...outcome, aiAgentId: 1, txId: 'tx_' });
const toTicket = async (id: number) => {
  const ticket = used.model.tickets.get((await used.intents.find(id))?.ticketId ?? 0);
  if (!ticket) throw new Error('no ticket');
  return ticket;
};

describe('an HTTP executor', () => {
  // spec: 10.1, 10.4, 10.5, 10.6, 29.1, 29.10
  test('sends one signed request with the intent, and maps its response to the outcome', async () => {
    const secret = 'a-secret-of-16-characters';
    const responseMapping = {
      responseCode: '/result/code',
      success: '/ok',
      messageLocalized: '/texts/0',
      message: '/m~1s',
    };
    const headers = { Authorization: 'Bearer b', 'X-Client': 'ticketing' };
    const executor = {
      type: 'http',
      url: `${used.backend.url}/do?key=1`,
      method: 'PUT',
      secret,
      responseMapping,
      headers,
    };
    const id = await used.intent({ executor, options });
    Object.assign(await toTicket(id), { contractId: 'V-1', customerId: 'C-1' });
    used.backend.respond = (_, response) => {
      response.end('{"result":{"code":"stored"},"ok":true,"texts":["Gespeichert"],"m/s":"Thank you"}');
    };
    const { status, json } = await used.execute(id, { intentId: id, data: { day: '2026-01-01', _action: 'ask' } });
    expect(status).toBe(200);
    await golden('execution-http', fixed(json));
    const [request] = used.backend.requests;
    expect(used.backend.requests).toHaveLength(1);
    const { ticketId } = (await used.intents.find(id)) ?? {};
    const { intent, ...body } = JSON.parse(request?.body ?? '');
    expect(body).toEqual({
      ticket: { id: ticketId, externalTicketId: null, contractId: 'V-1', customerId: 'C-1' },
      option: 'ask',
      data: { reading: 5, day: '2026-01-01' },
      txId: json.txId,
      user: { id: 7, kind: 'user' },
    });
    expect(intent).toMatchObject({ id, code: 'meter-reading', name: 'Meter reading', contractId: 'V-1' });
    expect(request).toMatchObject({ method: 'PUT', path: '/do?key=1' });
    const sent = request?.headers ?? {};
    expect(sent).toMatchObject({ 'idempotency-key': json.txId, authorization: 'Bearer b', 'x-client': 'ticketing' });
    const verifier = new Webhook(secret, { format: 'raw' });
    expect(() => verifier.verify(request?.body ?? '', sent as Record<string, string>)).not.toThrow();
  });

  test('the outcome is recorded in the ticket, in the name of whoever executes', async () => {
    const id = await used.intent({ options });
    const { json } = await used.execute(id);
    const [record] = used.model.records;
    expect(record).toMatchObject({
      executionId: `${json.txId}:record`,
      intentId: id,
      close: false,
      profileId: 7,
      profileKind: 'user',
    });
    expect(record?.intents).toMatchObject([
      { id, status: TicketIntentStatus.EXECUTED, verified: true, outcome: { txId: json.txId, success: true } },
    ]);
  });

  test.each([
    [
      'a status of 4xx',
      (_: unknown, response: { writeHead(code: number): { end(): void } }) => response.writeHead(422).end(),
      'http_422',
    ],
    [
      'a redirect that keeps the method',
      (_: unknown, response: { writeHead(code: number, headers: object): { end(): void } }) =>
        response.writeHead(307, { location: '/x' }).end(),
      'http_307',
    ],
    // spec: 10.3, 10.13
  ])('%s is a definite failure, after which the intent can be executed again', async (_, respond, code) => {
    const id = await used.intent();
    used.backend.respond = respond as never;
    const failed = await used.execute(id);
    expect(failed.json).toMatchObject({ success: false, responseCode: code, sent: false });
    expect(used.model.records).toMatchObject([
      { intents: [{ id, status: TicketIntentStatus.READY, verified: false }] },
    ]);
    used.backend.respond = (_request, response) => response.end('{}');
    const again = await used.execute(id);
    expect(again.json).toMatchObject({ success: true, responseCode: 'ok' });
    expect(again.json.txId).not.toBe(failed.json.txId);
    expect(used.backend.requests).toHaveLength(2);
  });

  // spec: 10.3
  test('a backend system that says so has failed', async () => {
    const executor = {
      type: 'http',
      url: used.backend.url,
      responseMapping: { success: '/ok', responseCode: '/code' },
    };
    const id = await used.intent({ executor });
    used.backend.respond = (_, response) => response.end('{"ok":false,"code":17}');
    expect((await used.execute(id)).json).toMatchObject({ success: false, responseCode: '17' });
    expect((await used.intents.find(id))?.status).toBe(TicketIntentStatus.READY);
  });

  test.each([
    ['no connection', 'http://127.0.0.1:1/', 'connect_failed'],
    ['a name without an address', 'https://nowhere.invalid/', 'resolve_failed'],
  ])('%s is a definite failure', async (_, url, code) => {
    const id = await used.intent({ executor: { type: 'http', url } });
    expect((await used.execute(id)).json).toMatchObject({ success: false, responseCode: code });
    expect((await used.intents.find(id))?.status).toBe(TicketIntentStatus.READY);
  });

  test.each([
    'http://10.0.0.1/',
    'http://169.254.169.254/latest',
    'http://[::ffff:10.0.0.1]/',
    'http://0x0a000001/',
    'http://192.168.1.1.:80/',
    'http://[fd00::1]/',
    'http://100.64.0.1/',
    // guarantee: I27
  ])('an address that is refused when it is saved is refused at the execution too: %s', async (url) => {
    const id = await used.intent();
    const agents = used.database.collection('aiAgents');
    const { aiAgentId = 0 } = (await used.intents.find(id)) ?? {};
    const filter = { _id: aiAgentId as never };
    const executor = JSON.parse((await agents.findOne(filter))?.executor);
    await agents.updateOne(filter, { $set: { executor: JSON.stringify({ ...executor, url }) } });
    const { json } = await used.execute(id);
    expect(json).toMatchObject({ success: false });
    expect(json.responseCode).toMatch(/^(?:address|request)_refused$/);
  });

  test.each<[string, (response: ServerResponse, endTime: () => void) => unknown]>([
    ['a status of 5xx', (response) => response.writeHead(503).end()],
    ['a connection that ends', (response) => response.socket?.destroy()],
    ['no response in time', (_, endTime) => endTime()],
    ['a success that is not said', (response) => response.end('{"ok":"yes"}')],
    ['a response that is no JSON', (response) => response.end('<html>')],
    ['a response that is too long', (response) => response.end(`{"ok":true,"x":"${'x'.repeat(64 * 1024)}"}`)],
    // guarantee: F20
  ])('%s leaves open what has happened, which is final', async (_, respond) => {
    const timeoutMs = 11_111;
    const executor = { type: 'http', url: used.backend.url, timeoutMs, responseMapping: { success: '/ok' } };
    const id = await used.intent({ executor });
    const timer = holdTimer((ms) => ms === timeoutMs);
    used.backend.respond = async (_request, response) => void respond(response, await timer);
    const first = await used.execute(id, { informCustomer: true });
    expect(first.json).toMatchObject({ success: false, responseCode: 'unknown', sent: false, ticketClosed: false });
    expect(used.model).toMatchObject({
      replies: [],
      records: [{ close: false, intents: [{ status: TicketIntentStatus.EXECUTED }] }],
    });
    expect((await used.execute(id)).json).toEqual(first.json);
    expect(used.backend.requests).toHaveLength(1);
  });

  // spec: 29.11
  // guarantee: F20
  // asvs: 2.3.4
  test('one of a hundred parallel calls executes, and all get its outcome', async () => {
    const id = await used.intent();
    const { promise, resolve: release } = Promise.withResolvers<void>();
    used.backend.respond = (_, response) => void promise.then(() => response.end('{}'));
    const calls = Array.from({ length: 100 }, () => used.execute(id, { informCustomer: true }));
    await expect.poll(() => used.backend.requests.length).toBe(1);
    // A later call ends, which does not wait.
    expect(await used.execute(id, { dryRun: true })).toMatchObject({ status: 409, json: { code: 'intent_running' } });
    release();
    const responses = await Promise.all(calls);
    expect([used.backend.requests.length, used.model.replies.length, used.model.records.length]).toEqual([1, 1, 1]);
    const { json } = await used.execute(id);
    expect(responses.filter(({ status, json: one }) => status !== 200 || one.txId !== json.txId)).toEqual([]);
  });

  test('a call that would wait too long for another one is refused', async () => {
    const id = await used.intent();
    const { promise, resolve: release } = Promise.withResolvers<void>();
    used.backend.respond = (_, response) => void promise.then(() => response.end('{}'));
    const first = used.execute(id);
    await expect.poll(() => used.backend.requests.length).toBe(1);
    const refusal = await used.whileTimePasses(used.execute(id));
    expect(refusal).toMatchObject({ status: 409, json: { code: 'intent_running' } });
    release();
    expect((await first).json).toMatchObject({ success: true });
  });

  test('a process that is stopped ends its executions first, although their callers have gone', async () => {
    const id = await used.intent();
    const { promise, resolve: release } = Promise.withResolvers<void>();
    used.backend.respond = (_, response) => void promise.then(() => response.end('{}'));
    const instance = await used.startInstance();
    const gone = new AbortController();
    const url = `http://127.0.0.1:${instance.ports.http}/intent/${id}/execute`;
    const token = await used.identity.internalToken('intents', testCaller());
    const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
    const body = JSON.stringify({ informCustomer: true });
    const sent = fetch(url, { method: 'POST', headers, body, signal: gone.signal }).catch(() => undefined);
    await expect.poll(() => used.backend.requests.length).toBe(1);
    gone.abort();
    await sent;
    const stopped = instance.stop();
    const isClosed = async () =>
      !(await fetch(`http://127.0.0.1:${instance.ports.http}/readyz`).catch(() => undefined));
    await expect.poll(isClosed).toBe(true);
    release();
    await stopped;
    expect(await used.intents.find(id)).toMatchObject({
      execution: null,
      outcome: { success: true, ticketClosed: true },
    });
  });
});

describe('other executors', () => {
  // spec: 10.11
  test('a reply is written with its template for the caller, once', async () => {
    const id = await used.intent({ executor: { type: 'none' } });
    const { aiAgentId = 0, ticketId } = (await used.intents.find(id)) ?? {};
    const executor = JSON.stringify({ type: 'reply', templateId: 12 });
    await used.database.collection('aiAgents').updateOne({ _id: aiAgentId as never }, { $set: { executor } });
    const { json } = await used.execute(id, { informCustomer: true, data: { day: 1 } });
    await golden('execution-reply', fixed(json));
    const templateData = { reading: 5, day: 1 };
    expect(used.model.replies).toEqual([
      {
        ...{ ticketId, key: json.txId, caller: 'profile 7', text: '<p>template 12</p>', type: undefined },
        ...{ templateId: 12, templateData },
      },
    ]);
    expect(used.model.records).toMatchObject([{ close: true }]);
    expect((await used.execute(id)).json).toEqual(json);
  });

  /** Makes an intent whose execution writes a reply. */
  async function replyIntent(): Promise<number> {
    const id = await used.intent({ executor: { type: 'none' } });
    const { aiAgentId = 0 } = (await used.intents.find(id)) ?? {};
    const executor = JSON.stringify({ type: 'reply', templateId: 12 });
    await used.database.collection('aiAgents').updateOne({ _id: aiAgentId as never }, { $set: { executor } });
    return id;
  }

  test('a reply that would reach nobody is refused beforehand', async () => {
    const id = await replyIntent();
    const ticket = await toTicket(id);
    Object.assign(ticket, { to: [], notSentReason: NotSentReason.NO_RECIPIENT });
    expect(await used.execute(id)).toMatchObject({ status: 409, json: { code: 'no_recipient' } });
    const { json } = await used.execute(id, { dryRun: true });
    expect(json).toMatchObject({ success: false, sent: false, responseCode: 'no_recipient' });
    expect(used.model.replies).toEqual([]);
    Object.assign(ticket, { to: ['kim@example.org'], notSentReason: undefined });
    expect((await used.execute(id)).json).toMatchObject({ success: true, sent: true });
  });

  test('an outcome has the beginning of a long reply, also of a simulated one', async () => {
    const id = await replyIntent();
    used.model.rendered = () => 'x'.repeat(100_001);
    onTestFinished(() => {
      used.model.rendered = undefined;
    });
    for (const dryRun of [true, false]) {
      const { json } = await used.execute(id, { dryRun });
      expect(json).toMatchObject({ success: true, message: 'x'.repeat(100_000) });
    }
    expect(used.model.replies.at(-1)?.text).toHaveLength(100_001);
  });

  test('a reply that is refused has failed, and can be made again', async () => {
    const id = await replyIntent();
    used.model.before = (operation) => operation === 'reply' && refused(Code.FailedPrecondition)();
    expect((await used.execute(id)).json).toMatchObject({ success: false, responseCode: 'failed_precondition' });
    used.model.before = () => undefined;
    expect((await used.execute(id)).json).toMatchObject({ success: true, sent: true, ticketClosed: false });
  });

  test('a ticket is changed in the write that records the execution', async () => {
    const id = await used.intent({ executor: { type: 'updateTicket', fields: { priority: 'urgent' } } });
    const { json } = await used.execute(id);
    await golden('execution-update-ticket', fixed(json));
    expect(used.model.records).toMatchObject([
      {
        executionId: json.txId,
        close: false,
        change: { priority: Priority.URGENT, updateMask: { paths: ['priority'] } },
      },
    ]);
  });

  test('a change that is refused has failed', async () => {
    const id = await used.intent({ executor: { type: 'updateTicket', fields: { priority: 'urgent' } } });
    used.model.before = (operation, _, request) => {
      if (operation === 'record' && 'change' in request && request.change) refused(Code.InvalidArgument)();
    };
    expect((await used.execute(id)).json).toMatchObject({ success: false, responseCode: 'invalid_argument' });
    expect((await used.intents.find(id))?.status).toBe(TicketIntentStatus.READY);
  });

  test('a ticket is closed, once', async () => {
    const id = await used.intent({ executor: { type: 'closeTicket' } });
    const { json } = await used.execute(id);
    expect(json).toMatchObject({ success: true, ticketClosed: true, sent: false, message: null });
    expect((await toTicket(id)).status).toBe(TicketStatus.CLOSED);
    await used.execute(id);
    expect(used.model.records).toHaveLength(1);
  });

  test('one of type none is done by a person', async () => {
    const id = await used.intent({ executor: { type: 'none' } });
    expect((await used.execute(id)).json).toMatchObject({ success: true, responseCode: 'ok', userId: 7 });
  });
});

describe('the customer', () => {
  // spec: 10.8, 10.9, 10.10, 17.7, 29.6
  test('is informed after a success, then the ticket is closed', async () => {
    const id = await used.intent();
    const { json } = await used.execute(id, { informCustomer: true });
    await golden('execution-informed', fixed(json));
    expect(used.model.replies).toMatchObject([
      { key: `${json.txId}:inform`, caller: 'profile 7', text: 'Your request has been processed.' },
    ]);
    expect(used.model.records).toMatchObject([{ close: true }]);
  });

  test.each([
    [{ message: '/a', messageLocalized: '/b' }, 'A'],
    [{ messageLocalized: '/b' }, 'B'],
    [{}, 'Ihr Anliegen wurde bearbeitet.'],
  ])('reads the message of the backend system, or else a sentence: %j', async (responseMapping, text) => {
    const id = await used.intent({ executor: { type: 'http', url: used.backend.url, responseMapping } });
    (await toTicket(id)).languageCode = 'de';
    used.backend.respond = (_, response) => response.end('{"a":"A","b":"B"}');
    expect((await used.execute(id, { informCustomer: true })).json).toMatchObject({ message: text, sent: true });
    expect(used.model.replies).toMatchObject([{ text }]);
  });

  test.each([
    ['html', ContentType.HTML],
    ['text', ContentType.TEXT],
    ['markdown', ContentType.TEXT],
    [null, ContentType.TEXT],
  ])('reads the message in the format that the backend system names: %s', async (messageType, type) => {
    const responseMapping = { message: '/message', messageType: '/type' };
    const id = await used.intent({ executor: { type: 'http', url: used.backend.url, responseMapping } });
    used.backend.respond = (_, response) => response.end(JSON.stringify({ message: '<p>Done</p>', type: messageType }));
    const { json } = await used.execute(id, { informCustomer: true });
    const shown = type === ContentType.HTML ? 'html' : 'text';
    expect(json).toMatchObject({ message: '<p>Done</p>', messageType: shown });
    expect(used.model.replies).toMatchObject([{ text: '<p>Done</p>', type }]);
  });

  test('has a message whose state a repeated execution and the records show', async () => {
    const id = await used.intent();
    const { json } = await used.execute(id, { informCustomer: true });
    expect(json).toMatchObject({ conversationId: 31, deliveryStatus: 'queued', notSentReason: null });
    expect(used.model.records[0]?.intents[0]?.outcome).toMatchObject({ conversationId: 31 });
    const ticket = await toTicket(id);
    ticket.deliveries = { 31: DeliveryStatus.FAILED };
    expect((await used.execute(id)).json).toEqual({ ...json, deliveryStatus: 'failed' });
    // While the ticket cannot be read, the state at the execution is shown.
    used.model.before = (operation) => operation === 'read' && refused(Code.Unavailable)();
    expect((await used.execute(id)).json).toEqual(json);
  });

  // guarantee: F23
  test('gets the same text in each attempt, also if the language of the ticket is detected in between', async () => {
    const id = await used.intent();
    const ticket = await toTicket(id);
    let attempts = 0;
    used.model.before = (operation) => {
      attempts += operation === 'reply' ? 1 : 0;
      if (operation === 'reply' && attempts === 1) throw new ConnectError('unavailable', Code.Unavailable);
    };
    expect((await used.execute(id, { informCustomer: true })).status).toBe(503);
    ticket.languageCode = 'de';
    const { json } = await used.execute(id);
    const text = 'Your request has been processed.';
    expect([attempts, json.message, json.sent]).toEqual([2, text, true]);
    expect(used.model.replies).toMatchObject([{ text }]);
  });

  // spec: 10.8, 29.6
  test('is not informed after a failure', async () => {
    const id = await used.intent();
    used.backend.respond = (_, response) => response.writeHead(400).end();
    expect((await used.execute(id, { informCustomer: true })).json).toMatchObject({ sent: false, ticketClosed: false });
    expect(used.model).toMatchObject({ replies: [], records: [{ close: false }] });
  });

  test('who cannot be informed any more leaves the success, and the ticket open', async () => {
    const id = await used.intent();
    used.model.before = (operation) => operation === 'reply' && refused(Code.FailedPrecondition)();
    const { json } = await used.execute(id, { informCustomer: true });
    expect(json).toMatchObject({ success: true, sent: false, ticketClosed: false });
    expect(json.internalData).toMatchObject({ informError: 'failed_precondition' });
    expect(used.model.records).toMatchObject([{ close: false }]);
  });

  // spec: 10.9
  test('whose ticket cannot be closed any more is informed all the same, and the outcome says that it is open', async () => {
    const id = await used.intent();
    used.model.before = (operation) => operation === 'record' && refused(Code.FailedPrecondition)();
    const { json } = await used.execute(id, { informCustomer: true });
    expect(json).toMatchObject({ success: true, sent: true, ticketClosed: false });
    expect((await used.execute(id)).json).toEqual(json);
  });

  test.each([
    [{ to: [], notSentReason: NotSentReason.NO_RECIPIENT }, 'no_recipient'],
    [{ notSentReason: NotSentReason.NO_SENDER }, 'no_sender'],
    [{ channel: Channel.CHAT, notSentReason: NotSentReason.CHANNEL_WITHOUT_MAIL }, 'no_recipient'],
    // spec: 29.6
  ])('whom no message reaches is refused beforehand, and found by a dry run: %j', async (changes, code) => {
    const id = await used.intent();
    Object.assign(await toTicket(id), changes);
    const refused = { status: 409, json: { code } };
    expect(await used.execute(id, { informCustomer: true })).toMatchObject(refused);
    const dry = await used.execute(id, { informCustomer: true, dryRun: true });
    expect(dry).toMatchObject({ status: 200, json: { success: false, sent: false, responseCode: code } });
    expect(used.model.replies).toEqual([]);
    expect(used.backend.requests).toEqual([]);
    expect(await used.execute(id)).toMatchObject({ status: 200 });
  });

  test('in a chat that is shown somewhere reads the message there', async () => {
    const id = await used.intent();
    const channelId = 'chat-1';
    Object.assign(await toTicket(id), {
      ...{ channel: Channel.CHAT, channelId, notSentReason: NotSentReason.CHANNEL_WITHOUT_MAIL },
    });
    expect((await used.execute(id, { informCustomer: true, dryRun: true })).json).toMatchObject({ sent: true });
    const { json } = await used.execute(id, { informCustomer: true });
    expect(json).toMatchObject({ success: true, sent: true, ticketClosed: true });
  });

  test('whose address is gone during the execution leaves the success, and the ticket open', async () => {
    const id = await used.intent();
    const ticket = await toTicket(id);
    used.model.before = (operation) => {
      if (operation === 'reply') Object.assign(ticket, { to: [], notSentReason: NotSentReason.NO_RECIPIENT });
    };
    const { json } = await used.execute(id, { informCustomer: true });
    expect(json).toMatchObject({ success: true, sent: false, ticketClosed: false });
    expect(json.internalData).toMatchObject({ informError: 'no_recipient' });
    expect(used.model.records).toMatchObject([{ close: false }]);
  });
});

describe('a request', () => {
  test.each([
    [{ intentId: 999_999 }, 400, 'intent_mismatch'],
    [{ code: 'other' }, 400, 'intent_mismatch'],
    [{ ticketId: 999_999 }, 400, 'intent_mismatch'],
    [{ contractId: 'V-2' }, 409, 'contract_mismatch'],
    [{ data: { _action: 'no' } }, 400, 'unknown_option'],
    [{ data: { _action: 1 } }, 400, 'unknown_option'],
    [{ data: { reading: 'five' } }, 400, 'invalid_data'],
    [{ data: { other: 1 } }, 400, 'invalid_data'],
    // spec: 29.3, 29.8, 29.9, 29.12, 39.13
  ])('%j is refused with %i %s, and nothing happens', async (body, status, code) => {
    const parameters = { type: 'object', properties: { reading: { type: 'integer' } }, additionalProperties: false };
    const id = await used.intent({ options, parameters });
    const response = await used.execute(id, body);
    expect([response.status, response.json.code]).toEqual([status, code]);
    expect(used.backend.requests).toEqual([]);
    expect((await used.execute(id, { contractId: 'V-1', data: { reading: 6, _action: 'ask' } })).status).toBe(200);
  });

  const nested = (levels: number): object => (levels === 0 ? {} : { a: nested(levels - 1) });
  test.each([
    ['an id below 0', -1, {}, 400],
    // spec: 29.2
    ['an id that is no number', 'x', {}, 400],
    ['an intentId below 0', 0, { intentId: -1 }, 400],
    // spec: 29.4
    ['an intentId with a fraction', 0, { intentId: 1.5 }, 400],
    ['a code of 100 characters', 0, { code: 'c'.repeat(100), ticketId: 1 }, 'unknown_ai_agent'],
    ['a code of 101 characters', 0, { code: 'c'.repeat(101), ticketId: 1 }, 'too_long'],
    ['a ticketId of 0', 0, { code: 'c', ticketId: 0 }, 400],
    ['a contractId of 50 characters', 0, { contractId: 'c'.repeat(50) }, 'required'],
    ['a contractId of 51 characters', 0, { contractId: 'c'.repeat(51) }, 'too_long'],
    // spec: 29.8
    ['data that is a list', 0, { data: [] }, 400],
    ['data of 16 levels', 0, { data: nested(15) }, 'required'],
    ['data of 17 levels', 0, { data: nested(16) }, 400],
    ['data of 256 KiB', 0, { data: { a: 'x'.repeat(256 * 1024 - 8) } }, 'required'],
    ['data of 256 KiB and one byte', 0, { data: { a: 'x'.repeat(256 * 1024 - 7) } }, 'too_long'],
    ['informCustomer as a text', 0, { informCustomer: 'true' }, 400],
    ['an unknown member', 0, { options: {} }, 'unknown_field'],
    [
      'null for everything',
      0,
      { intentId: null, code: null, ticketId: null, data: null, contractId: null },
      'required',
    ],
  ])('with %s', async (_, id, body, expected) => {
    const { status, json } = await used.request('POST', `/intent/${id}/execute`, { body });
    const codes = [json.code, ...(json.errors ?? []).map(({ code }: { code: string }) => code)];
    expect([status, codes]).toEqual([400, typeof expected === 'string' ? expect.arrayContaining([expected]) : codes]);
    // Apart from what is to be created, the limits are reported.
    if (expected === 400) expect(codes).not.toContain('required');
  });

  // spec: 29.1
  test('without an option is for the recommended one, and without any is refused', async () => {
    const id = await used.intent({ options });
    await used.execute(id);
    expect(JSON.parse(used.backend.requests[0]?.body ?? '')).toMatchObject({ option: 'enter' });
    const none = await used.intent({ options: options.map((one) => ({ ...one, recommended: false })) });
    expect(await used.execute(none)).toMatchObject({ status: 400, json: { code: 'unknown_option' } });
  });

  test('for an intent that was invalidated, or whose AI agent was deleted, is refused', async () => {
    const id = await used.intent();
    const { ticketId = 0, aiAgentId } = (await used.intents.find(id)) ?? {};
    const other = await used.intent();
    await used.intents.propose([{ ticketId, proposals: [] }]);
    expect(await used.execute(id)).toMatchObject({ status: 409, json: { code: 'intent_invalidated' } });
    await used.request('DELETE', `/aiAgent/${(await used.intents.find(other))?.aiAgentId}`, {
      caller: { permissions: ['manageAiAgents'] },
    });
    expect(await used.execute(other)).toMatchObject({ status: 409, json: { code: 'intent_invalidated' } });
    expect(aiAgentId).toBeGreaterThan(0);
  });

  test('for no intent, no ticket or without the customer that is needed is refused', async () => {
    expect(await used.execute(999_999)).toMatchObject({ status: 404, json: { code: 'intent_not_found' } });
    const id = await used.intent({ customerNeeded: true });
    expect(await used.execute(id)).toMatchObject({ status: 409, json: { code: 'customer_needed' } });
    (await toTicket(id)).customerId = 'C-1';
    expect((await used.execute(id)).status).toBe(200);
    const orphan = await used.intent();
    used.model.tickets.delete((await toTicket(orphan)).id);
    expect(await used.execute(orphan)).toMatchObject({ status: 404, json: { code: 'ticket_not_found' } });
  });

  // spec: 29.5
  test('without an intent creates it first, once for an idempotency key', async () => {
    const parameters = { properties: { unit: { default: 'EUR' } } };
    await used.agent({ name: 'Refund', slug: 'refund', parameters, executor: { type: 'http', url: used.backend.url } });
    const { id: ticketId } = used.ticket({ contractId: 'V-9' });
    const body = { code: 'refund', ticketId, intentId: 0, data: { amount: 3 }, contractId: 'V-9' };
    const request = () =>
      used.request('POST', '/intent/0/execute', { body, headers: { 'idempotency-key': 'refund-1' } });
    const first = await request();
    expect((await request()).json).toEqual(first.json);
    const stored = await used.intents.ofTicket(ticketId);
    expect(stored).toMatchObject([
      {
        code: 'refund',
        name: 'Refund',
        contractId: 'V-9',
        recipient: 'kim@example.org',
        data: { unit: 'EUR', amount: 3 },
        verified: true,
        status: TicketIntentStatus.EXECUTED,
        proposedBy: 'request',
      },
    ]);
    expect(used.backend.requests).toHaveLength(1);
    await golden('execution-created', fixed(first.json));
    await used.execute(0, body);
    expect(await used.intents.ofTicket(ticketId)).toHaveLength(2);
  });

  test.each([
    [{}, 400, 'required'],
    [{ code: 'missing' }, 400, 'required'],
    [{ code: 'missing', ticketId: 1 }, 400, 'unknown_ai_agent'],
    [{ code: 'known', ticketId: 999_999 }, 404, 'ticket_not_found'],
    [{ code: 'known', ticketId: 1, contractId: 'V-0' }, 409, 'contract_mismatch'],
    // spec: 29.5
  ])('to create %j is refused with %i %s, and creates nothing', async (body, status, code) => {
    const ticket = used.ticket();
    await used.agent({ name: 'Known', slug: 'known' }).catch(() => undefined);
    const before = await used.database.collection('intents').countDocuments();
    const given = 'ticketId' in body && body.ticketId === 1 ? { ...body, ticketId: ticket.id } : body;
    const response = await used.execute(0, given);
    expect([response.status, response.json.code]).toEqual([status, code]);
    expect(await used.database.collection('intents').countDocuments()).toBe(before);
  });

  // guarantee: F24
  test('while the tickets service is unavailable executes nothing, or finishes later', async () => {
    const id = await used.intent({ executor: { type: 'closeTicket' } });
    used.model.before = (operation) => operation === 'record' && refused(Code.Unavailable)();
    expect(await used.execute(id)).toMatchObject({ status: 503, json: { code: 'dependency_unavailable' } });
    used.model.before = () => undefined;
    expect((await used.execute(id)).json).toMatchObject({ success: true, ticketClosed: true });
    expect(used.model.records).toHaveLength(1);
  });
});
