import type {
  Customer as CustomerMessage,
  CustomerSummary,
} from '@ticketing/contracts/ticketing/tickets/v1/customer_pb.ts';
import type { TagTree } from '../tag/rules/tree.ts';
import { tagMessages } from '../tag/to-proto.ts';
import { contractMessage, customerFields } from './erp/codec.ts';
import { type Customer, isSameEmail } from './rules/customer.ts';

/** Makes the message of a customer; `ticket` is the one through which it was read. */
export function customerMessage(customer: Customer, tree: TagTree, ticket?: { from: string | null }): CustomerMessage {
  return {
    $typeName: 'ticketing.tickets.v1.Customer',
    ...customerFields(customer),
    ...tagsOf(customer.tagIds, tree),
    contracts: customer.contracts.map(contractMessage),
    ...(ticket ? { emailMatches: isSameEmail(ticket.from, customer.email) } : {}),
  };
}

/** Makes the message of a ticket's customer in a list; undefined for a ticket without one. */
export function customerSummary(
  { customerId, customerTagIds }: { customerId: string | null; customerTagIds: readonly number[] },
  tree: TagTree,
): CustomerSummary | undefined {
  if (customerId === null) return undefined;
  return { $typeName: 'ticketing.tickets.v1.CustomerSummary', ...tagsOf(customerTagIds, tree) };
}

/** The tags of a customer, without those that do not exist. */
function tagsOf(tagIds: readonly number[], tree: TagTree) {
  return { tags: tagMessages(tagIds, tree), tagIds: tagIds.filter(tree.get) };
}
