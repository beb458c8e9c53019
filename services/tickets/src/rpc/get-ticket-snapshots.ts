import { setImmediate } from 'node:timers/promises';
import type {
  GetTicketSnapshotsRequest,
  GetTicketSnapshotsResponse,
  TicketSnapshot,
} from '@ticketing/contracts/ticketing/tickets/v1/snapshot_service_pb.ts';
import type { Ticket } from '@ticketing/contracts/ticketing/tickets/v1/ticket_pb.ts';
import { DomainError } from '@ticketing/errors/domain-error.ts';
import type { Call } from '@ticketing/service-kit/server/call.ts';
import type { Context } from '../application/context.ts';
import { tagMessages } from '../application/tag-message.ts';
import { fullTickets } from '../application/ticket-message.ts';
import type { StoredTicket } from '../store/ticket-store.ts';

const atOnce = 5;
const maxTextLength = 16 * 1024 * 1024;

/**
 * Answers tickets as they are now, for services that keep a share of them.
 *
 * Errors: too_large, if their texts together are; one ticket alone never is.
 */
export async function getTicketSnapshots(
  context: Context,
  call: Call,
  { ticketIds }: GetTicketSnapshotsRequest,
): Promise<GetTicketSnapshotsResponse> {
  const snapshots: TicketSnapshot[] = [];
  const carried = new Set<number>();
  let length = 0;
  let tagRevision = Number.POSITIVE_INFINITY;
  for (let at = 0; at < ticketIds.length; at += atOnce) {
    const stored = await context.tickets.findAll(ticketIds.slice(at, at + atOnce));
    for (const { ticket } of stored) {
      length += lengthOf(ticket);
      for (const id of ticket.tagIds) carried.add(id);
    }
    if (length > maxTextLength && ticketIds.length > 1) {
      throw new DomainError('resource_exhausted', 'too_large', 'These tickets are too large to be answered together.');
    }
    // After the tickets, so that it knows each of their tags that still exists.
    const tree = await context.tags.tree();
    tagRevision = Math.min(tagRevision, tree.revision);
    const tickets = await fullTickets(context, stored, { caller: call.caller, withRawData: true, tree });
    snapshots.push(...tickets.map((ticket, index) => snapshotOf(ticket, stored[index])));
    // Other requests are served meanwhile.
    await setImmediate();
  }
  const tree = await context.tags.tree();
  const tagIds = new Set([...carried].flatMap((id) => tree.lineOf(id).map((tag) => tag.id)));
  return {
    $typeName: 'ticketing.tickets.v1.GetTicketSnapshotsResponse',
    snapshots,
    tags: tagMessages([...tagIds], tree),
    // Some of what is told may be newer, and none older.
    tagRevision: BigInt(Math.min(tagRevision, tree.revision)),
  };
}

function snapshotOf(ticket: Ticket, stored: StoredTicket | undefined): TicketSnapshot {
  const manualWorkEntries = stored?.manualWorkEntries ?? 0;
  return { $typeName: 'ticketing.tickets.v1.TicketSnapshot', ticket, manualWorkEntries };
}

function lengthOf({ body, bodyPlain, bodyClean, rawData }: StoredTicket['ticket']): number {
  return [body, bodyPlain, bodyClean, rawData].reduce((sum, text) => sum + (text?.length ?? 0), 0);
}
