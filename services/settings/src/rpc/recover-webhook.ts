import type { Timestamp } from '@bufbuild/protobuf/wkt';
import type {
  RecoverWebhookRequest,
  RecoverWebhookResponse,
} from '@ticketing/contracts/ticketing/settings/v1/webhook_service_pb.ts';
import type { Call } from '@ticketing/service-kit/server/call.ts';
import { newDelivery } from '../application/add-deliveries.ts';
import type { Context } from '../application/context.ts';
import { findEnabledWebhook } from '../application/find-webhook.ts';
import { takesEvent, type WebhookState } from '../domain/webhook.ts';
import type { StoredEvent } from '../store/event-store.ts';

const batchSize = 500;
/** Events of several processes can be in the feed in another order than their times, by as much as their clocks differ. */
const clockSkewMs = 60_000;

/**
 * Delivers the events of an interval that were not delivered to a webhook endpoint. Those that are still attempted are
 * counted, and go on as they are.
 *
 * Errors: webhook_not_found; webhook_disabled. Source: docs/reference/api.md, Webhooks.
 */
export async function recoverWebhook(
  context: Context,
  { signal }: Call,
  { id, since, until }: RecoverWebhookRequest,
): Promise<RecoverWebhookResponse> {
  const webhook = await findEnabledWebhook(context, id);
  const { events } = context;
  const interval = { from: Number(since?.seconds ?? 0n) * 1000, before: endOf(until, context.now()) };
  const first = await events.firstSince(new Date(interval.from - clockSkewMs));
  const afterLast = await events.firstSince(new Date(interval.before + clockSkewMs));
  const last = afterLast === undefined ? ((await events.bounds())?.last ?? 0) : afterLast - 1;
  let count = 0;
  for (let after = first === undefined ? last : first - 1; after < last; ) {
    signal.throwIfAborted();
    const batch = await events.between(after, last, { types: webhook.eventTypes }, batchSize);
    const isTaken = ({ event, receivedAt }: StoredEvent) =>
      takesEvent(webhook, event) && receivedAt.getTime() >= interval.from && receivedAt.getTime() < interval.before;
    count += await recoverBatch(context, webhook, batch.filter(isTaken));
    context.dispatcher?.wake();
    after = batch.length < batchSize ? last : (batch.at(-1)?.position ?? last);
  }
  return { $typeName: 'ticketing.settings.v1.RecoverWebhookResponse', success: true, count };
}

/** Returns how many of the events have not been delivered. */
async function recoverBatch(context: Context, { id }: WebhookState, events: readonly StoredEvent[]): Promise<number> {
  if (events.length === 0) return 0;
  const { deliveries, erasedTickets } = context;
  const known = await deliveries.known(
    id,
    events.map(({ event }) => event.eventId),
  );
  const missing = events.filter(({ event }) => !known.has(event.eventId));
  const undelivered = [...known.values()].filter(({ isDelivered }) => !isDelivered);
  const exhausted = undelivered.filter(({ isPending }) => !isPending);
  const tickets = [...new Set(missing.map(({ event }) => event.ticketId))];
  const erasedBefore = await erasedTickets.among(tickets);
  await deliveries.add(
    missing.map((event) => newDelivery(context, id, event)),
    erasedBefore,
  );
  // A ticket that was deleted between these steps: its erasure has not found the new deliveries.
  const erasedSince = [...(await erasedTickets.among(tickets))].filter((ticket) => !erasedBefore.has(ticket));
  if (erasedSince.length > 0) await deliveries.erase(erasedSince);
  if (exhausted.length > 0)
    await deliveries.attemptAgain(
      id,
      exhausted.map((one) => one.id),
    );
  return missing.length + undelivered.length;
}

/** The end of the last second of an interval, in Unix ms. Units: `now` in Unix seconds. */
function endOf(until: Timestamp | undefined, now: number): number {
  return (Number(until?.seconds ?? now) + 1) * 1000;
}
