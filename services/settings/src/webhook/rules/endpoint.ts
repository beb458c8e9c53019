import {
  ChangeCause,
  type TicketChanged,
  type TicketChangeType,
} from '@ticketing/contracts/ticketing/events/v1/ticket_changed_pb.ts';
import type {
  WebhookDisabledReason,
  WebhookStatus,
} from '@ticketing/contracts/ticketing/settings/v1/webhook_service_pb.ts';
import type { SealedText } from '@ticketing/text/sealed-text.ts';
import type { WebhookHealth } from './health.ts';

/** A stored webhook endpoint. */
export interface WebhookState {
  id: number;
  url: string;
  description: string | null;
  /** Empty for all. */
  eventTypes: readonly TicketChangeType[];
  /** Empty for all tickets. */
  subchannelIds: readonly number[];
  status: WebhookStatus;
  disabledReason: WebhookDisabledReason | null;
  /** Unix seconds. */
  createdAt: number;
  /** The newest first. The next rotation removes secrets that have ended. */
  secrets: readonly WebhookSecret[];
  /**
   * The position in the feed after which it takes events: events that are handled again are not sent to a new endpoint.
   */
  afterPosition: number;
  health: WebhookHealth;
  /** Increases when a request changes the health, so that a dispatcher does not overwrite it with what it knew before. */
  epoch: number;
}

/** A secret that signs deliveries. */
export interface WebhookSecret {
  sealed: SealedText;
  /** Unix ms; null for the current one. */
  endsAt: number | null;
  /** The request with an `Idempotency-Key` that made it. */
  requestId: string | null;
}

/** How many endpoints there may be. */
export const maxWebhooks = 100;
/** How many secrets of an endpoint may sign: each of them adds to the header of every delivery. */
export const maxLiveSecrets = 10;

const overlapMs = 24 * 60 * 60 * 1000;

/** Whether an event is sent to an endpoint with these filters. Source: docs/reference/api.md, Webhooks. */
export function takesEvent(
  { eventTypes, subchannelIds }: Pick<WebhookState, 'eventTypes' | 'subchannelIds'>,
  { type, subchannelId, cause }: Pick<TicketChanged, 'type' | 'subchannelId' | 'cause'>,
): boolean {
  if (cause === ChangeCause.REFRESH) return false;
  if (eventTypes.length > 0 && !eventTypes.includes(type)) return false;
  return subchannelIds.length === 0 || (subchannelId !== undefined && subchannelIds.includes(subchannelId));
}

/** Returns the secrets that sign at a time. Units: Unix ms. */
export function liveSecrets(secrets: readonly WebhookSecret[], now: number): WebhookSecret[] {
  return secrets.filter(({ endsAt }) => endsAt === null || endsAt > now);
}

/** Returns the secrets after a rotation: the ones before it end within 24 hours. Units: Unix ms. */
export function rotated(secrets: readonly WebhookSecret[], next: WebhookSecret, now: number): WebhookSecret[] {
  const before = liveSecrets(secrets, now).map((secret) => ({ ...secret, endsAt: secret.endsAt ?? now + overlapMs }));
  return [next, ...before];
}
