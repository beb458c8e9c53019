import type {
  ConfirmErasureRequest,
  ConfirmErasureResponse,
} from '@ticketing/contracts/ticketing/tickets/v1/snapshot_service_pb.ts';
import { DomainError } from '@ticketing/errors/domain-error.ts';
import type { Call } from '@ticketing/service-kit/call/call.ts';
import type { ErasureStore } from './store.ts';

/**
 * Records that the calling service has erased its data of a deleted ticket. When all services have
 * confirmed, only the id, the version and the time of the deletion of the ticket remain.
 *
 * Errors: ticket_not_deleted. Source: docs/reference/architecture.md, Delete.
 */
export async function confirmErasure(
  { erasures }: { erasures: Pick<ErasureStore, 'confirm'> },
  call: Call,
  { ticketId }: ConfirmErasureRequest,
): Promise<ConfirmErasureResponse> {
  if (!(await erasures.confirm(ticketId, call.caller.service ?? ''))) {
    throw new DomainError('failed_precondition', 'ticket_not_deleted', 'The ticket was not deleted.');
  }
  return { $typeName: 'ticketing.tickets.v1.ConfirmErasureResponse' };
}
