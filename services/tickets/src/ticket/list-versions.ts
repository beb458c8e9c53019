import type {
  ListTicketVersionsRequest,
  ListTicketVersionsResponse,
} from '@ticketing/contracts/ticketing/tickets/v1/snapshot_service_pb.ts';
import type { Call } from '@ticketing/service-kit/call/call.ts';
import type { Context } from '../context.ts';

const defaultLimit = 1000;

/** Lists the versions of all tickets, page by page, for services that compare them with those that they have stored. */
export async function listTicketVersions(
  context: Context,
  _call: Call,
  { afterId, limit = defaultLimit }: ListTicketVersionsRequest,
): Promise<ListTicketVersionsResponse> {
  const versions = await context.tickets.versionsAfter(afterId, limit);
  return {
    $typeName: 'ticketing.tickets.v1.ListTicketVersionsResponse',
    versions: versions.map((one) => ({ $typeName: 'ticketing.tickets.v1.TicketVersion', ...one })),
  };
}
