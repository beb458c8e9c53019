import type { Timestamp } from '@bufbuild/protobuf/wkt';
import type {
  RecoverWebhookRequest,
  RecoverWebhookResponse,
} from '@ticketing/contracts/ticketing/settings/v1/webhook_service_pb.ts';
import { invalidInput } from '@ticketing/errors/domain-error.ts';
import { formatRfc3339 } from '@ticketing/rest/codec/date-time.ts';
import { secondsNow } from '@ticketing/runtime/runtime.ts';
import type { Call } from '@ticketing/service-kit/call/call.ts';
import { readPart } from '../../feed/read.ts';
import type { EventStore, StoredEvent } from '../../feed/store.ts';
import { findEnabledWebhook } from '../find.ts';
import { takesEvent, type WebhookState } from '../rules/endpoint.ts';
import { newDelivery } from './add.ts';
import { storeOfTickets } from './erase-ticket.ts';
import type { DeliveryParts } from './open.ts';

const batchSize = 500;
/** Recovering this many takes about 5 seconds, and on a busy database less than the gateway's limit of 30 seconds. */
const maxEvents = 100_000;

/**
 * Delivers the events of an interval that were not delivered to a webhook endpoint. Deliveries that are still attempted
 * are counted, and continue as they are.
 *
 * Errors: webhook_not_found; webhook_disabled; interval_too_long. Source: docs/reference/api.md, Webhooks.
 */
export async function recoverWebhook(
  parts: DeliveryParts,
  { signal }: Call,
  { id, since, until }: RecoverWebhookRequest,
): Promise<RecoverWebhookResponse> {
  const webhook = await findEnabledWebhook(parts, id);
  const { events, dispatcher, runtime } = parts;
  const from = Number(since?.seconds ?? 0n) * 1000;
  const { first, last } = await findPositions(events, from, findEnd(until, secondsNow(runtime)));
  await requireShortInterval(events, from, first, last);
  let count = 0;
  for (let after = first - 1; after < last; ) {
    signal.throwIfAborted();
    const part = await readPart(events, after, last, { types: webhook.eventTypes }, batchSize);
    const taken = part.events.filter(({ event }) => takesEvent(webhook, event));
    count += await recoverBatch(parts, webhook, taken);
    dispatcher.wake();
    after = part.next;
  }
  return { $typeName: 'ticketing.settings.v1.RecoverWebhookResponse', success: true, count };
}

/** Returns the positions of the events of an interval: times never go backwards along the feed. Units: Unix ms. */
async function findPositions(
  events: EventStore,
  from: number,
  before: number,
): Promise<{ first: number; last: number }> {
  const [first, afterLast, bounds] = [
    await events.firstSince(new Date(from)),
    await events.firstSince(new Date(before)),
    // The bounds are read last, so that they contain the positions of the other reads.
    await events.bounds(),
  ];
  const end = bounds?.last ?? 0;
  const last = afterLast === undefined ? end : Math.min(end, afterLast - 1);
  return { first: first ?? last + 1, last };
}

/** Errors: interval_too_long, which names the latest `until` that fits. A second always fits. Units: `from` in Unix ms. */
async function requireShortInterval(events: EventStore, from: number, first: number, last: number): Promise<void> {
  const count = last - first + 1;
  if (count <= maxEvents) return;
  const [tooMuch] = await events.between(first + maxEvents - 1, last, { types: [] }, 1);
  const until = Math.floor((tooMuch?.receivedAt.getTime() ?? 0) / 1000) - 1;
  if (until * 1000 < from) return;
  const detail = `must be earlier: the feed has ${count} events in the interval, and at most ${maxEvents} are recovered at once; until ${formatRfc3339(until)} fits`;
  throw invalidInput([{ pointer: '#/until', code: 'interval_too_long', detail }]);
}

/** Returns how many of the events have not been delivered. */
async function recoverBatch(
  parts: DeliveryParts,
  { id }: WebhookState,
  events: readonly StoredEvent[],
): Promise<number> {
  if (events.length === 0) return 0;
  const { deliveries } = parts;
  const known = await deliveries.known(
    id,
    events.map(({ event }) => event.eventId),
  );
  const missing = events.filter(({ event }) => !known.has(event.eventId));
  const undelivered = [...known.values()].filter(({ isDelivered }) => !isDelivered);
  const exhausted = undelivered.filter(({ isPending }) => !isPending);
  const tickets = missing.map(({ event }) => event.ticketId);
  const added = missing.map((event) => newDelivery(parts, id, event));
  await storeOfTickets(parts, tickets, (erased) => deliveries.add(added, erased));
  if (exhausted.length > 0)
    await deliveries.attemptAgain(
      id,
      exhausted.map((one) => one.id),
      { isRequested: false },
    );
  return missing.length + undelivered.length;
}

/** Returns the end of the last second of an interval, in Unix ms. Units: `now` in Unix seconds. */
function findEnd(until: Timestamp | undefined, now: number): number {
  return (Number(until?.seconds ?? now) + 1) * 1000;
}
