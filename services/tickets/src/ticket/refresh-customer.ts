import { type Runtime, secondsNow } from '@ticketing/runtime/runtime.ts';
import type { Call } from '@ticketing/service-kit/call/call.ts';
import type { CustomerDirectory, ErpReadOptions, ErpResponse } from '../customer/directory.ts';
import { firstMessage, hasSameCustomer, identify } from '../customer/identify.ts';
import { type Customer, toCustomerCopy } from '../customer/rules/customer.ts';
import { confirmedLegitimation } from '../customer/rules/legitimation.ts';
import { eventHeaderFor } from '../event-header.ts';
import type { ChangePlan, Commit } from './commit.ts';
import { isSameValue } from './rules/change.ts';
import { decideFields } from './rules/decision.ts';
import type { TicketInput, TicketState } from './rules/fields.ts';
import type { CustomerCopyStore } from './store/customer-copy-store.ts';
import type { StoredTicket } from './store/document.ts';

export interface RefreshDeps {
  customers: CustomerDirectory;
  commit: Commit;
  runtime: Runtime;
}

/**
 * Reads customer and contract of a ticket again, or looks for them if it has none, and returns the ticket with the
 * changes. If the ERP system does not respond in time, nothing changes.
 *
 * Errors: ticket_not_found, concurrent_change. Source: docs/reference/api.md, Reading a ticket.
 */
export async function refreshCustomer(
  deps: RefreshDeps,
  call: Pick<Call, 'caller' | 'trace'>,
  stored: StoredTicket,
  deadline: number,
): Promise<StoredTicket> {
  const { ticket } = stored;
  const { input, customer } = await identify(deps, ticket, firstMessage(ticket), { mode: 'fresh', deadline });
  if (customer === undefined) return stored;
  const refreshed = withoutLoss(ticket, input);
  if (hasSameCustomer({ ...ticket, ...refreshed }, ticket)) return stored;
  return deps.commit({
    ticketId: ticket.id,
    decide({ ticket: current }) {
      // Somebody else has set them since they were read.
      if (!hasSameCustomer(current, ticket)) return {};
      const { change } = decideFields(current, refreshed, secondsNow(deps.runtime), eventHeaderFor(deps, call));
      return change ? { change: { ...change, event: { ...change.event, cause: 'refresh' } } } : {};
    },
  });
}

/** Keeps a higher score: a later message may have shown more than the first one, which alone counts here. */
function withoutLoss(before: TicketState, after: TicketInput): TicketInput {
  const isSameCustomer = after.customerId === before.customerId && after.contractId === before.contractId;
  if (!isSameCustomer || before.incomingMessages <= 1) return after;
  return {
    ...after,
    customerLegitimation: Math.max(before.customerLegitimation, after.customerLegitimation ?? 0),
  };
}

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
    const copy = toCustomerCopy(customer);
    const isCurrent =
      ticket.customerEmail === copy.customerEmail && isSameValue(ticket.customerTagIds, copy.customerTagIds);
    if (!isCurrent) await customerCopies.set({ customerId, ticketId, copy, revision: runtime.randomUUID() });
    return customer;
  };
}

/**
 * Makes `identify` of a plan that sets `input`: if that sets the customer or the contract of a ticket, the fields that
 * follow are the customer of the contract, the score, and the copy of the customer. A person who sets the contract
 * confirms it.
 *
 * Errors of the result: store_unavailable. Source: docs/reference/api.md, Legitimation.
 */
export function followCustomer(
  customers: CustomerDirectory,
  input: TicketInput,
  isHuman: boolean,
): ChangePlan['identify'] {
  if (input.contractId === undefined && input.customerId === undefined) return undefined;
  const deadline = customers.deadline();
  return (ticket) => fieldsThatFollow(customers, ticket, input, { isHuman, deadline });
}

async function fieldsThatFollow(
  customers: CustomerDirectory,
  ticket: TicketState,
  input: TicketInput,
  { isHuman, deadline }: { isHuman: boolean; deadline: number },
): Promise<TicketInput> {
  const changed = { ...ticket, ...input };
  // The customer of the contract is not looked for, because the request says that there is no customer.
  if (input.customerId === null) changed.contractId = null;
  const givesContract = (input.contractId ?? null) !== null;
  const followsContract = givesContract && input.customerId === undefined;
  const { input: identified } = await identify({ customers }, changed, firstMessage(changed), {
    mode: 'cached',
    lookFor: followsContract ? 'customerOfContract' : 'nobody',
    deadline,
    current: input.contractId === null ? 0 : ticket.customerLegitimation,
  });
  // Customer and contract change only if the request says so, apart from the customer of a new contract.
  const { contractId: _, customerId, ...following } = identified;
  return {
    ...following,
    ...(followsContract && customerId !== undefined ? { customerId } : {}),
    ...(givesContract && isHuman ? { customerLegitimation: confirmedLegitimation } : {}),
  };
}
