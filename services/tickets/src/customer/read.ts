import type { Context } from '../context.ts';
import { isSameValue } from '../ticket/rules/change.ts';
import type { TicketState } from '../ticket/rules/fields.ts';
import type { ErpReadOptions, ErpResponse } from './directory.ts';
import { type Customer, customerCopyOf } from './rules/customer.ts';

/**
 * Reads the customer of a ticket. Outdated copies in the tickets of this customer are updated, which does not count as
 * a change of the tickets. Without a customer id nothing is read.
 *
 * Errors: store_unavailable.
 */
export async function readCustomer(
  context: Pick<Context, 'customers' | 'customerCopies' | 'runtime'>,
  ticket: TicketState,
  { mode = 'cached', deadline = context.customers.deadline() }: Partial<Pick<ErpReadOptions, 'mode' | 'deadline'>> = {},
): Promise<ErpResponse<Customer>> {
  const { id: ticketId, customerId } = ticket;
  if (customerId === null) return null;
  const customer = await context.customers.customer(customerId, { mode, ticketId, deadline });
  if (customer === undefined) return undefined;
  const copy = customerCopyOf(customer);
  const isCurrent =
    ticket.customerEmail === copy.customerEmail && isSameValue(ticket.customerTagIds, copy.customerTagIds);
  if (!isCurrent) {
    await context.customerCopies.set({ customerId, ticketId, copy, revision: context.runtime.randomUUID() });
  }
  return customer;
}
