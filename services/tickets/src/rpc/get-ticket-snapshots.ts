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
import type { StoredTicket } from '../store/stored-ticket.ts';

const batchSize = 5;
/** The limit of all texts together, in characters. */
const maxTextLength = 16 * 1024 * 1024;

/**
 * Returns tickets as they are now, for services that store data of them.
 *
 * Errors: too_large, if the texts of several tickets together exceed the limit; a single ticket is always returned.
 */
export async function getTicketSnapshots(
  context: Context,
  call: Call,
  { ticketIds }: GetTicketSnapshotsRequest,
): Promise<GetTicketSnapshotsResponse> {
  const snapshots: TicketSnapshot[] = [];
  const tagIdsOfTickets = new Set<number>();
  let length = 0;
  let tagRevision = Number.POSITIVE_INFINITY;
  for (let at = 0; at < ticketIds.length; at += batchSize) {
    const stored = await context.tickets.findAll(ticketIds.slice(at, at + batchSize));
    for (const { ticket } of stored) {
      length += lengthOf(ticket);
      for (const id of ticket.tagIds) tagIdsOfTickets.add(id);
    }
    if (length > maxTextLength && ticketIds.length > 1) {
      throw new DomainError('resource_exhausted', 'too_large', 'These tickets are too large to be returned together.');
    }
    // Read after the tickets, so that the tree has each of their tags that still exists.
    const tree = await context.tags.tree();
    tagRevision = Math.min(tagRevision, tree.revision);
    const tickets = await fullTickets(context, stored, { caller: call.caller, withRawData: true, tree });
    snapshots.push(...tickets.map((ticket, index) => snapshotOf(ticket, stored[index])));
    // Yields to other requests between two tickets.
    await setImmediate();
  }
  const tree = await context.tags.tree();
  const tagIds = new Set([...tagIdsOfTickets].flatMap((id) => tree.pathToRoot(id).map((tag) => tag.id)));
  return {
    $typeName: 'ticketing.tickets.v1.GetTicketSnapshotsResponse',
    snapshots,
    tags: tagMessages([...tagIds], tree),
    // The tags in the response may be newer than this revision, but none is older.
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
