import { type Contract, type Customer, isSameEmail } from './customer.ts';
import type { Mentions } from './mentions.ts';

/** The traces of its customer in a message. */
export interface CustomerTraces {
  mentions: Pick<Mentions, 'hasId'>;
  /** The e-mail address of the customer's side. */
  email: string | null;
}

/** A customer that was found, and the contract that the message is about. */
export interface FoundCustomer {
  customer: Customer;
  contractId: string | null;
}

/**
 * Chooses the customer of a message among those whose ids or addresses it contains: a contract id counts more than a
 * customer id, and that more than an e-mail address. If two customers fit equally well, none is chosen: a ticket must not
 * show the data of somebody else.
 *
 * The contract is the one that is mentioned first in the list of the customer, else the one with the e-mail address, else
 * the only one.
 *
 * Source: docs/reference/api.md, Customers and contracts.
 */
export function identifyCustomer(customers: readonly Customer[], traces: CustomerTraces): FoundCustomer | undefined {
  const ranked = customers
    .map((customer) => ({ customer, rank: rankCustomer(customer, traces) }))
    .filter(({ rank }) => rank > 0)
    .sort((left, right) => right.rank - left.rank);
  const [best, second] = ranked;
  if (!best || best.rank === second?.rank) return undefined;
  return { customer: best.customer, contractId: chooseContract(best.customer.contracts, traces)?.id ?? null };
}

function rankCustomer(customer: Customer, { mentions, email }: CustomerTraces): number {
  const hasContract = customer.contracts.some(({ id }) => mentions.hasId(id));
  return (hasContract ? 4 : 0) + (mentions.hasId(customer.id) ? 2 : 0) + (hasEmail(customer, email) ? 1 : 0);
}

function chooseContract(contracts: readonly Contract[], { mentions, email }: CustomerTraces): Contract | undefined {
  const mentioned = contracts.find(({ id }) => mentions.hasId(id));
  if (mentioned) return mentioned;
  const withEmail = contracts.filter((contract) => isSameEmail(contract.email, email));
  const possible = withEmail.length > 0 ? withEmail : contracts;
  return possible.length === 1 ? possible[0] : undefined;
}

/** Whether an e-mail address is that of a customer or of one of its contracts. */
export function hasEmail(customer: Customer, email: string | null): boolean {
  return [customer, ...customer.contracts].some((one) => isSameEmail(one.email, email));
}
