import type { RoutingOrder } from './domain/queue-order.ts';

/** The settings that this service asks for. */
export interface TicketSettings {
  /** Whether a ticket without an agent is assigned to the person who creates it. */
  lastAgentRouting: boolean;
  /** The tag that marks a ticket as spam at run time. */
  spamDetectionTagId: number | null;
  /** The order of the queue. */
  routingOrder: RoutingOrder;
}

/** Where settings come from. */
export type ReadSettings = () => Promise<TicketSettings>;

/** The defaults of decisions.md section 10. */
export const defaultSettings: ReadSettings = async () => ({
  lastAgentRouting: false,
  spamDetectionTagId: null,
  routingOrder: 'sla',
});
