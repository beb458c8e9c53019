import type { TicketDecision } from './rules/decision.ts';
import type { TicketInput } from './rules/fields.ts';
import type { StoredTicket } from './store/stored-ticket.ts';

/** The plan of a change of a ticket. */
export interface ChangePlan {
  ticketId: number;
  /** Decides what happens to the ticket. It does no I/O, and is called again if another write came first. */
  decide(stored: StoredTicket, identified: TicketInput): TicketDecision;
  /** The request, if it may be repeated. A request that was already applied to the ticket is not applied again. */
  requestId?: string | undefined;
}

/** Writes a planned change of a ticket, and returns the ticket after it. Errors: those of `writeTicket`. */
export type Commit = (plan: ChangePlan) => Promise<StoredTicket>;
