import type {
  Customer as CustomerMessage,
  CustomerSummary,
} from '@ticketing/contracts/ticketing/tickets/v1/customer_pb.ts';
import type {
  SearchCustomersRequest,
  SearchCustomersResponse,
} from '@ticketing/contracts/ticketing/tickets/v1/customer_service_pb.ts';
import { invalidInput } from '@ticketing/errors/domain-error.ts';
import { markAsLarge } from '@ticketing/rest/limits/large-response.ts';
import type { KeyedSlots } from '@ticketing/runtime/keyed-slots.ts';
import type { Call } from '@ticketing/service-kit/call/call.ts';
import { callerKey } from '@ticketing/service-kit/identity/caller.ts';
import { isLargePage, type PageBudget, requirePageSize } from '@ticketing/store/paging/page-budget.ts';
import type { TagTree } from '../tag/rules.ts';
import type { TagStore } from '../tag/store.ts';
import { tagMessages, tagSize } from '../tag/to-proto.ts';
import type { CustomerDirectory } from './directory.ts';
import { contractMessage, customerFields } from './erp/codec.ts';
import type { CustomerQuery } from './erp/erp.ts';
import { type Customer, isSameEmail } from './rules/customer.ts';

const defaultLimit = 10;
const fields = ['q', 'customerId', 'contractId', 'email', 'phone', 'firstname', 'lastname', 'zip'] as const;

interface SearchCustomersDeps {
  customers: Pick<CustomerDirectory, 'search'>;
  tags: Pick<TagStore, 'tree'>;
  /** Bounds the searches of each caller. */
  searches: KeyedSlots;
  pages: PageBudget;
}

/**
 * Finds customers in the ERP system.
 *
 * Errors: required; page_too_large, too_much_at_once; erp_unavailable.
 * Source: docs/reference/api.md, Customers and contracts.
 */
export async function searchCustomers(
  deps: SearchCustomersDeps,
  call: Call,
  request: SearchCustomersRequest,
): Promise<SearchCustomersResponse> {
  const query: CustomerQuery = Object.fromEntries(
    fields.flatMap((name) => (request[name] === undefined ? [] : [[name, request[name]]])),
  );
  if (Object.keys(query).length === 0) {
    const detail = `is required, or at least one of ${fields.slice(1).join(', ')}`;
    throw invalidInput([{ pointer: '#/q', code: 'required', detail }]);
  }
  const { limit = defaultLimit, offset = 0 } = request;
  const [tree, { customers, total }] = await Promise.all([
    deps.tags.tree(),
    deps.searches.run(callerKey(call.caller), () => deps.customers.search(query, { limit, offset })),
  ]);
  const sizes = customers.map((customer) => messageSize(customer, tree));
  requirePageSize(sizes);
  const bytes = sizes.reduce((sum, size) => sum + size, 0);
  await deps.pages.take(callerKey(call.caller), bytes, call);
  const response: SearchCustomersResponse = {
    $typeName: 'ticketing.tickets.v1.SearchCustomersResponse',
    customers: customers.map((customer) => customerMessage(customer, tree)),
    total,
    offset,
    limit,
  };
  return isLargePage(sizes) ? markAsLarge(response) : response;
}

function messageSize(customer: Customer, tree: TagTree): number {
  const tags = tagMessages(customer.tagIds, tree);
  return tags.reduce((sum, tag) => sum + tagSize(tag), JSON.stringify(customer).length);
}

/** Makes the message of a customer; `ticket` is the one through which it was read. */
export function customerMessage(customer: Customer, tree: TagTree, ticket?: { from: string | null }): CustomerMessage {
  return {
    $typeName: 'ticketing.tickets.v1.Customer',
    ...customerFields(customer),
    ...shownTags(customer.tagIds, tree),
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
  return { $typeName: 'ticketing.tickets.v1.CustomerSummary', ...shownTags(customerTagIds, tree) };
}

/** The tags of a customer, without those that do not exist. */
function shownTags(tagIds: readonly number[], tree: TagTree) {
  return { tags: tagMessages(tagIds, tree), tagIds: tagIds.filter(tree.get) };
}
