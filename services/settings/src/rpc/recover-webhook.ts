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
  const { eventTypes } = webhook;
  const first = await events.firstSince(dateOf(since?.seconds ?? 0n));
  const afterEnd = until && (await events.firstSince(dateOf(until.seconds + 1n)));
  const last = afterEnd === undefined ? ((await events.bounds())?.last ?? 0) : afterEnd - 1;
  let count = 0;
  for (let after = first === undefined ? last : first - 1; after < last; ) {
    signal.throwIfAborted();
    const batch = await events.between(after, last, { types: eventTypes }, batchSize);
    count += await recoverBatch(
      context,
      webhook,
      batch.filter(({ event }) => takesEvent(webhook, event)),
    );
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

function dateOf(seconds: bigint): Date {
  return new Date(Number(seconds) * 1000);
}
