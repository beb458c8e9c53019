import type {
  ConfirmErasureRequest,
  ConfirmErasureResponse,
} from '@ticketing/contracts/ticketing/tickets/v1/snapshot_service_pb.ts';
import { DomainError } from '@ticketing/errors/domain-error.ts';
import type { Call } from '@ticketing/service-kit/server/call.ts';
import type { Context } from '../application/context.ts';

/**
 * Notes that a service keeps nothing of a deleted ticket any more. When all who keep a share have said so, nothing of the
 * ticket is left but its id, its version and the time of its deletion.
 *
 * Errors: ticket_not_deleted. Source: architecture.md section 4, Delete.
 */
export async function confirmErasure(
  context: Context,
  call: Call,
  { ticketId }: ConfirmErasureRequest,
): Promise<ConfirmErasureResponse> {
  if (!(await context.tickets.confirmErasure(ticketId, call.caller.service ?? ''))) {
    throw new DomainError('failed_precondition', 'ticket_not_deleted', 'The ticket was not deleted.');
  }
  return { $typeName: 'ticketing.tickets.v1.ConfirmErasureResponse' };
}
