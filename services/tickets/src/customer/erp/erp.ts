import { DomainError } from '@ticketing/errors/domain-error.ts';
import type { Contract, Customer } from '../rules/customer.ts';

/** The ERP system, which knows customers and contracts. Errors of every operation: erp_unavailable. */
export interface Erp {
  /** The customers that match all fields of a query, in a fixed order. */
  search(query: CustomerQuery, page: { limit: number; offset: number }): Promise<FoundCustomers>;
  /** A customer with all contracts. */
  customer(id: string): Promise<Customer | undefined>;
  /** A contract, with the id of its customer. */
  contract(id: string): Promise<Contract | undefined>;
  /**
   * The customers that have one of the ids, or a contract with one of them, or the e-mail address, or the telephone number.
   * If `maxMatches` are returned, there may be more.
   */
  match(traces: CustomerTraces): Promise<Customer[]>;
}

/** By what a ticket may show its customer. */
export interface CustomerTraces {
  ids: readonly string[];
  email: string | null;
  /** The telephone number of the caller, as it was given. */
  phone?: string | null;
}

/** With this many matches or more, customers are not compared by the content of a message. */
export const maxMatches = 20;

/** The fields by which customers are searched. */
export interface CustomerQuery {
  q?: string;
  customerId?: string;
  contractId?: string;
  email?: string;
  phone?: string;
  firstname?: string;
  lastname?: string;
  zip?: string;
}

/** A page of customers, and how many there are on all pages. */
export interface FoundCustomers {
  customers: Customer[];
  total: number;
}

/** The error for an ERP system that does not respond, or responds otherwise than documented. */
export function erpUnavailable(cause: unknown, retryAfterSeconds = 5): DomainError {
  const detail = 'The ERP system does not respond.';
  return new DomainError('unavailable', 'erp_unavailable', detail, { retryAfterSeconds, cause });
}
