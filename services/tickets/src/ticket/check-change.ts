import type {
  CheckTicketChangeRequest,
  CheckTicketChangeResponse,
} from '@ticketing/contracts/ticketing/tickets/v1/ticket_service_pb.ts';
import type { Call } from '@ticketing/service-kit/call/call.ts';
import type { Context } from '../context.ts';
import { findChangeViolations } from './find-change-violations.ts';
import { readBulkElement } from './read-patch.ts';

/**
 * Checks a change of tickets that another service makes later.
 *
 * Errors: settings_unavailable. Source: docs/reference/api.md, Bulk changes.
 */
export async function checkTicketChange(
  context: Context,
  _call: Call,
  { change }: CheckTicketChangeRequest,
): Promise<CheckTicketChangeResponse> {
  const elements = change ? [{ ...readBulkElement(change), change, pointer: '#' }] : [];
  const violations = await findChangeViolations(context, elements);
  return {
    $typeName: 'ticketing.tickets.v1.CheckTicketChangeResponse',
    violations: violations.map((violation) => ({ $typeName: 'ticketing.api.v1.Violation', ...violation })),
  };
}
