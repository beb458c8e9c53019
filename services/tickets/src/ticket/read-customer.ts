import type { Runtime } from '@ticketing/runtime/runtime.ts';
import type { CustomerDirectory, ErpReadOptions, ErpResponse } from '../customer/directory.ts';
import { type Customer, customerCopyOf } from '../customer/rules/customer.ts';
import { isSameValue } from './rules/change.ts';
import type { TicketState } from './rules/fields.ts';
import type { CustomerCopyStore } from './store/customer-copy-store.ts';

/**
 * Reads the customer of a ticket. Outdated copies in the tickets of this customer are updated, which does not count as
 * a change of the tickets. Without a customer id nothing is read.
 *
 * Errors: store_unavailable.
 */
export type ReadCustomer = (
  ticket: TicketState,
  options?: Partial<Pick<ErpReadOptions, 'mode' | 'deadline'>>,
) => Promise<ErpResponse<Customer>>;

/** Opens the reads of customers of tickets. */
export function customerReader({
  customers,
  customerCopies,
  runtime,
}: {
  customers: CustomerDirectory;
  customerCopies: CustomerCopyStore;
  runtime: Runtime;
}): ReadCustomer {
  return async (ticket, { mode = 'cached', deadline = customers.deadline() } = {}) => {
    const { id: ticketId, customerId } = ticket;
    if (customerId === null) return null;
    const customer = await customers.customer(customerId, { mode, ticketId, deadline });
    if (customer === undefined) return undefined;
    const copy = customerCopyOf(customer);
    const isCurrent =
      ticket.customerEmail === copy.customerEmail && isSameValue(ticket.customerTagIds, copy.customerTagIds);
    if (!isCurrent) await customerCopies.set({ customerId, ticketId, copy, revision: runtime.randomUUID() });
    return customer;
  };
}
