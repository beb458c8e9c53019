import { type Caller, isHuman } from '@ticketing/service-kit/identity/caller.ts';
import type { Context } from '../context.ts';
import { eventHeader } from './event-header.ts';
import type { TicketInput } from './rules/fields.ts';
import { decidePatch, type TicketPatch } from './rules/patch.ts';
import type { SlaRules } from './rules/sla.ts';
import type { StoredTicket } from './store/stored-ticket.ts';
import type { WriteOptions } from './write.ts';
import { writeWithCustomer } from './write-with-customer.ts';

/** The request that a PATCH is part of. Units: `now` in Unix seconds. */
export interface PatchRequest {
  caller: Caller;
  traceparent: string;
  now: number;
  includeInWorklog: boolean;
  /** With the tags as they are when the request is applied. */
  sla: SlaRules;
  /** Throws if `If-Match` does not allow the version of the ticket. */
  requireVersion?: (version: number) => void;
}

/**
 * Applies a PATCH to a ticket, and returns the ticket after it.
 *
 * Errors: ticket_not_found, concurrent_change; what `requireVersion` throws.
 */
export async function applyPatch(
  context: Context,
  id: number,
  patch: TicketPatch,
  request: PatchRequest,
  options: WriteOptions,
): Promise<StoredTicket> {
  const { caller, traceparent, now, includeInWorklog, sla } = request;
  const author = { profileId: caller.profileId, isHuman: isHuman(caller) };
  const decide = (stored: StoredTicket, input: TicketInput) => {
    request.requireVersion?.(stored.ticket.version);
    return decidePatch(
      stored,
      { ...patch, input },
      { author, now, includeInWorklog, sla, header: eventHeader(context, caller, traceparent) },
    );
  };
  const change = { ticketId: id, input: patch.input, isHuman: author.isHuman, decide };
  return writeWithCustomer(context, change, options);
}
