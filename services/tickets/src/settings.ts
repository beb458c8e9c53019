import type { RoutingOrder } from './domain/queue-order.ts';

/** The settings that this service reads. */
export interface TicketSettings {
  /** Whether a ticket without an agent is assigned to the person who creates it. */
  lastAgentRouting: boolean;
  /** The tag that hides a ticket from the queue and from the skills scope, without a change of its `spamStatus`. */
  spamDetectionTagId: number | null;
  /** The order of the queue. */
  routingOrder: RoutingOrder;
}

/** The default settings. Source: docs/reference/api.md, Settings. */
export const defaultSettings: TicketSettings = {
  lastAgentRouting: false,
  spamDetectionTagId: null,
  routingOrder: 'sla',
};
