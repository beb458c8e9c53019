import { create, toBinary } from '@bufbuild/protobuf';
import { TicketChangedSchema } from '@ticketing/contracts/ticketing/events/v1/ticket_changed_pb.ts';
import { WebhookStatus } from '@ticketing/contracts/ticketing/settings/v1/webhook_service_pb.ts';
import { OutboundError } from '@ticketing/outbound/outbound-error.ts';
import type { OutboundGuard } from '@ticketing/outbound/outbound-guard.ts';
import type { OutboundRequest, OutboundResponse } from '@ticketing/outbound/outbound-request.ts';
import { systemRuntime } from '@ticketing/runtime/runtime.ts';
import type { EndedSpan, Tracer } from '@ticketing/runtime/tracer.ts';
import { secretBox } from '@ticketing/text/sealed-text.ts';
import { Webhook } from 'standardwebhooks';
import { expect, it } from 'vitest';
import { deliveryFixture } from '../delivery/rules/delivery-fixture.ts';
import type { WebhookState } from '../rules/endpoint.ts';
import { healthy } from '../rules/health.ts';
import { newWebhookSecret, webhookBinding } from '../rules/secret.ts';
import { attemptDelivery } from './attempt-delivery.ts';

const box = secretBox([systemRuntime.randomBytes(32)], systemRuntime);
const secret = newWebhookSecret(systemRuntime);
const webhook: WebhookState = {
  ...{ id: 1, url: 'https://example.com/hook', description: null, eventTypes: [], subchannelIds: [], createdAt: 0 },
  ...{ status: WebhookStatus.ACTIVE, disabledReason: null, afterPosition: 0, health: healthy, epoch: 1 },
  secrets: [{ sealed: box.seal(secret, webhookBinding(1)), endsAt: null, requestId: null }],
};
const event = create(TicketChangedSchema, { eventId: 'evt_5', ticketId: 1, actor: { kind: 'Jürgen 🎫' } });
const delivery = deliveryFixture({ position: 5, event: toBinary(TicketChangedSchema, event) });
const signal = new AbortController().signal;
const traceId = 'a'.repeat(32);
const traceparent = `00-${traceId}-${'b'.repeat(16)}-01`;

/** Makes an attempt at a receiver of which only the guard's side is played. */
async function attemptAt(respond: OutboundGuard['request'], given = signal, tracer?: Tracer) {
  const requests: OutboundRequest[] = [];
  const outbound: Pick<OutboundGuard, 'request'> = {
    request(request) {
      requests.push(request);
      return respond(request);
    },
  };
  const context = { outbound, secretBox: box, runtime: systemRuntime, tracer };
  const outcome = await attemptDelivery(context, webhook, { ...delivery, traceparent }, given);
  return { outcome, request: requests[0] ?? expect.unreachable('there was no request') };
}

const toResponse = (fields: Partial<OutboundResponse>) => async (): Promise<OutboundResponse> => ({
  ...{ status: 204, headers: {}, body: Buffer.alloc(0), isComplete: true, address: '192.0.2.1', durationMs: 7 },
  ...fields,
});

// guarantee: W1
it('sends the bytes that it has signed, within the limits of an attempt', async () => {
  const { request } = await attemptAt(toResponse({}));
  const { body, headers = {}, signal: _signal, ...rest } = request;
  expect(rest).toEqual({
    url: webhook.url,
    method: 'POST',
    deadlineMs: 15_000,
    maxResponseBytes: 65_536,
    longResponse: 'cut',
    maxRedirects: 0,
  });
  const sent = Buffer.from(body ?? '');
  expect(new Webhook(secret).verify(sent, { ...headers })).toMatchObject({ data: { actor: { kind: 'Jürgen 🎫' } } });
  expect(headers['webhook-id']).toBe(delivery.eventId);
});

it.each([
  [204, undefined, true, '01'],
  [204, undefined, false, '00'],
  [500, '500', true, '01'],
])(
  'where traces are recorded, an attempt with the status %s is a span, and the receiver gets it (error: %s, recorded: %s)',
  async (status, error, isSampled, flags) => {
    const spans: EndedSpan[] = [];
    const record = (span: EndedSpan) => void spans.push(span);
    const tracer = { isSampled: () => isSampled, record } as unknown as Tracer;
    const { request } = await attemptAt(toResponse({ status }), signal, tracer);
    const [span] = spans;
    expect(spans).toHaveLength(1);
    expect(span).toMatchObject({ kind: 'client', durationMs: 7, error, attributes: { 'ticketing.webhook.id': 1 } });
    expect(span?.trace).toMatchObject({ traceId, parentSpanId: 'b'.repeat(16) });
    expect(request.headers?.traceparent).toBe(`00-${traceId}-${span?.trace.spanId}-${flags}`);
    // Elsewhere the receiver learns nothing of traces, also of deliveries that were stored while they were recorded.
    const { request: untraced } = await attemptAt(toResponse({ status }));
    expect(untraced.headers).not.toHaveProperty('traceparent');
  },
);

it.each([
  [299, true],
  [300, false],
  [199, false],
])('a response with the status %s: delivered is %s', async (status, isDelivered) => {
  const { outcome } = await attemptAt(toResponse({ status, body: Buffer.from('ok') }));
  expect(outcome).toMatchObject({
    isDelivered,
    attempt: { status, durationMs: 7, responseStart: 'ok', address: '192.0.2.1' },
  });
});

it('a response that has begun and does not end is a failure, whatever its status', async () => {
  const { outcome } = await attemptAt(async () => {
    throw new OutboundError('timeout', { status: 200, address: '192.0.2.1', durationMs: 15_000 });
  });
  const attempt = { status: 200, errorKind: 'timeout', responseStart: null, address: '192.0.2.1', durationMs: 15_000 };
  expect(outcome).toMatchObject({ isDelivered: false, attempt });
});

it('an attempt that was ended from here has no outcome', async () => {
  const ending = new AbortController();
  const { outcome } = await attemptAt(async () => {
    ending.abort();
    throw ending.signal.reason;
  }, ending.signal);
  expect(outcome).toBeUndefined();
});

it.each([
  ['a'.repeat(4097), 'a'.repeat(4096), 4098],
  [`${'a'.repeat(4095)}é`, 'a'.repeat(4095), 4097],
  ['\n"', '\n"', 6],
  [Buffer.alloc(4096, 0xff), '\ufffd'.repeat(1365), 4097],
])(
  'keeps the start of a response as at most 4 KiB of text, and how long that is in JSON (%#)',
  async (body, start, bytes) => {
    const { outcome } = await attemptAt(toResponse({ status: 500, body: Buffer.from(body) }));
    expect(outcome?.attempt).toMatchObject({ responseStart: start, responseJsonBytes: bytes });
  },
);
