import { confirmedLegitimation } from '../domain/legitimation.ts';
import type { TicketInput } from '../domain/ticket-fields.ts';
import type { Context } from './context.ts';
import { identify, openingMessage } from './legitimate.ts';

/**
 * Adds the fields that follow if a request sets the customer or the contract of a ticket: the customer of the contract,
 * and the score. A person who sets the contract confirms it.
 *
 * Errors: store_unavailable. Source: docs/reference/api.md, Legitimation.
 */
export async function withCustomerFields(
  context: Pick<Context, 'customers' | 'tickets'>,
  ticketId: number,
  input: TicketInput,
  isHuman: boolean,
): Promise<TicketInput> {
  if (input.contractId === undefined && input.customerId === undefined) return input;
  const stored = await context.tickets.find(ticketId);
  // The write that follows finds out the same.
  if (!stored) return input;
  const { ticket } = stored;
  const givesContract = (input.contractId ?? null) !== null;
  const changed = { ...ticket, ...input };
  // The customer of the new contract is to be found.
  if (givesContract && input.customerId === undefined) changed.customerId = null;
  // That of the contract is not to be found, because the request says that there is none.
  if (input.customerId === null) changed.contractId = null;
  const isCleared = input.contractId === null;
  const { input: identified } = await identify(context, changed, openingMessage(changed), {
    mode: 'cached',
    detects: false,
    current: isCleared ? 0 : ticket.customerLegitimation,
  });
  const isConfirmed = givesContract && isHuman;
  return {
    ...identified,
    customerId: identified.customerId ?? (input.customerId === undefined ? ticket.customerId : null),
    ...(isConfirmed ? { customerLegitimation: confirmedLegitimation } : {}),
    ...input,
  };
}
