import type {
  GetTicketSnapshotsRequest,
  GetTicketSnapshotsResponse,
} from '@ticketing/contracts/ticketing/tickets/v1/snapshot_service_pb.ts';
import type { Call } from '@ticketing/service-kit/call.ts';
import type { Context } from './context.ts';
import { tagMessages } from './tag-message.ts';
import { fullTickets } from './ticket-message.ts';

/** Answers tickets as they are now, for services that keep a share of them. */
export async function getTicketSnapshots(
  context: Context,
  call: Call,
  { ticketIds }: GetTicketSnapshotsRequest,
): Promise<GetTicketSnapshotsResponse> {
  const stored = await context.tickets.findAll(ticketIds);
  // After the tickets, so that it knows each of their tags that still exists.
  const tree = await context.tags.tree();
  const tickets = await fullTickets(context, stored, { caller: call.caller, withRawData: true, tree });
  const tagIds = new Set(
    stored.flatMap(({ ticket }) => ticket.tagIds.flatMap((id) => tree.lineOf(id).map((tag) => tag.id))),
  );
  return {
    $typeName: 'ticketing.tickets.v1.GetTicketSnapshotsResponse',
    snapshots: tickets.map((ticket, index) => ({
      $typeName: 'ticketing.tickets.v1.TicketSnapshot',
      ticket,
      manualWorkEntries: stored[index]?.manualWorkEntries ?? 0,
    })),
    tags: tagMessages([...tagIds], tree),
    tagRevision: BigInt(tree.revision),
  };
}
