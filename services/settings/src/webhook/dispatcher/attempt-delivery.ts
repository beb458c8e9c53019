import { OutboundError } from '@ticketing/outbound/outbound-error.ts';
import type { OutboundGuard } from '@ticketing/outbound/outbound-guard.ts';
import { parseRetryAfter } from '@ticketing/outbound/retry-after.ts';
import { signatureHeaders } from '@ticketing/outbound/signature-headers.ts';
import type { Runtime } from '@ticketing/runtime/runtime.ts';
import { continueTrace, renderTraceparent, type Trace } from '@ticketing/runtime/trace.ts';
import type { Tracer } from '@ticketing/runtime/tracer.ts';
import type { SecretBox } from '@ticketing/text/sealed-text.ts';
import { parseEvent } from '../../feed/rules/event.ts';
import { eventBody, testBody } from '../delivery/rules/body.ts';
import type { Attempt, PendingDelivery } from '../delivery/rules/delivery.ts';
import { liveSecrets, type WebhookState } from '../rules/endpoint.ts';
import { webhookBinding } from '../rules/secret.ts';

/** The dependencies of an attempt. */
export interface SendingParts {
  outbound: Pick<OutboundGuard, 'request'>;
  secretBox: Pick<SecretBox, 'open'>;
  runtime: Runtime;
  /** Records a span of each attempt, and passes the trace on to the receiver. */
  tracer?: Tracer | undefined;
}

/** An attempt, and the time until which the receiver wants no other. */
export interface AttemptOutcome {
  attempt: Attempt;
  isDelivered: boolean;
  /** The next attempt is not made before this time, in Unix ms. */
  retryAfter: number | undefined;
}

const deadlineMs = 15_000;
const maxResponseBytes = 64 * 1024;
const keptBytes = 4 * 1024;

/**
 * Sends a delivery to its endpoint once. Returns undefined if the signal has ended the attempt.
 *
 * Errors: an Error if a secret cannot be decrypted.
 * Source: docs/reference/api.md, Delivery.
 */
export async function attemptDelivery(
  parts: SendingParts,
  webhook: WebhookState,
  delivery: PendingDelivery,
  signal: AbortSignal,
): Promise<AttemptOutcome | undefined> {
  const { tracer } = parts;
  if (!tracer || delivery.traceparent === undefined) return sendDelivery(parts, webhook, delivery, signal);
  const trace = continueTrace(delivery.traceparent);
  const outcome = await sendDelivery(parts, webhook, delivery, signal, {
    traceparent: renderTraceparent(trace, tracer),
  });
  if (outcome) recordAttempt(tracer, trace, delivery, outcome);
  return outcome;
}

function recordAttempt(tracer: Tracer, trace: Trace, delivery: PendingDelivery, outcome: AttemptOutcome): void {
  const { durationMs, status, errorKind } = outcome.attempt;
  tracer.record({
    trace,
    name: 'POST webhook',
    kind: 'client',
    durationMs,
    error: outcome.isDelivered ? undefined : (errorKind ?? String(status)),
    attributes: {
      'http.request.method': 'POST',
      ...(status === null ? {} : { 'http.response.status_code': status }),
      'messaging.message.id': delivery.eventId,
      'ticketing.webhook.id': delivery.webhookId,
      'ticketing.webhook.attempt': delivery.attemptsMade + 1,
    },
  });
}

async function sendDelivery(
  { outbound, secretBox, runtime }: SendingParts,
  webhook: WebhookState,
  delivery: PendingDelivery,
  signal: AbortSignal,
  traceHeaders: Readonly<Record<string, string>> = {},
): Promise<AttemptOutcome | undefined> {
  const at = runtime.now();
  const secrets = liveSecrets(webhook.secrets, at).map(({ sealed }) =>
    secretBox.open(sealed, webhookBinding(webhook.id)),
  );
  const body = renderBody(delivery);
  const headers = {
    'content-type': 'application/json',
    'user-agent': 'ticketing-webhooks',
    ...signatureHeaders(secrets, { id: delivery.eventId, at, body }),
    ...traceHeaders,
  };
  try {
    const response = await outbound.request({
      url: webhook.url,
      method: 'POST',
      headers,
      body: Buffer.from(body),
      deadlineMs,
      maxResponseBytes,
      longResponse: 'cut',
      maxRedirects: 0,
      signal,
    });
    const { status, durationMs, address = null } = response;
    return {
      attempt: { at, durationMs, status, errorKind: null, ...readStart(response.body), address },
      isDelivered: status >= 200 && status < 300,
      retryAfter: parseRetryAfter(response.headers['retry-after'], runtime.now()),
    };
  } catch (error) {
    if (signal.aborted) return undefined;
    if (!(error instanceof OutboundError)) throw error;
    const { kind: errorKind, status = null, address = null, durationMs } = error;
    const attempt = { at, durationMs, status, errorKind, responseStart: null, responseJsonBytes: 0, address };
    return { attempt, isDelivered: false, retryAfter: undefined };
  }
}

function renderBody({ event, webhookId, createdAt }: PendingDelivery): string {
  if (!event) return testBody(webhookId, Math.floor(createdAt / 1000));
  return eventBody(parseEvent(event));
}

/** Returns the start of a response as text of at most 4 KiB. A character that the limit has cut in two is left out. */
function readStart(body: Buffer): Pick<Attempt, 'responseStart' | 'responseJsonBytes'> {
  const text = decodeStart(body);
  // Bytes that are not UTF-8 become characters of three bytes.
  const responseStart = Buffer.byteLength(text) > keptBytes ? decodeStart(Buffer.from(text)) : text;
  return { responseStart, responseJsonBytes: Buffer.byteLength(JSON.stringify(responseStart)) };
}

function decodeStart(utf8: Buffer): string {
  return new TextDecoder().decode(utf8.subarray(0, keptBytes), { stream: true });
}
