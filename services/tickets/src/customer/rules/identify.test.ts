import { expect, it } from 'vitest';
import type { Contract, Customer } from './customer.ts';
import { identifyCustomer } from './identify.ts';
import { mentionsIn } from './mentions.ts';

const contract = (id: string, email: string | null = null): Contract => ({
  id,
  customerId: null,
  status: null,
  startDate: null,
  endDate: null,
  productName: null,
  zip: null,
  email,
  additionalData: null,
  rawData: null,
});
const customer = (id: string, email: string | null, ...contracts: Contract[]): Customer => ({
  id,
  business: false,
  company: null,
  firstname: null,
  lastname: null,
  email,
  phone: null,
  address: null,
  zip: null,
  city: null,
  tagIds: [],
  contracts,
  additionalData: null,
});

const ada = customer('K-1001', 'ada@example.org', contract('V-1001'), contract('V-1002', 'ada.work@example.org'));
const bob = customer('K-2002', 'bob@example.org', contract('V-2001'));
const eve = customer('K-3003', 'bob@example.org');

it.each([
  ['a contract id', 'V-1002', null, [ada, bob], ['K-1001', 'V-1002']],
  ['a customer id; the contract is not sure', 'K-1001', null, [ada, bob], ['K-1001', null]],
  ['a customer id, and its only contract', 'K-2002', null, [ada, bob], ['K-2002', 'V-2001']],
  ['the address of a customer', '', 'ADA@example.org', [ada, bob], ['K-1001', null]],
  ['the address of a contract', '', 'ada.work@example.org', [ada, bob], ['K-1001', 'V-1002']],
  ['a contract id before an address', 'V-1001', 'bob@example.org', [bob, ada], ['K-1001', 'V-1001']],
  ['a contract id before a customer id', 'K-2002 V-1001', null, [bob, ada], ['K-1001', 'V-1001']],
  ['both ids before a contract id', 'K-2002 V-2001 V-1001', null, [ada, bob], ['K-2002', 'V-2001']],
  ['the address decides between two contracts', 'V-1001 V-2001', 'bob@example.org', [ada, bob], ['K-2002', 'V-2001']],
  ['no customer of two with the address', '', 'bob@example.org', [bob, eve], undefined],
  ['no customer of two contracts', 'V-1001 V-2001', null, [ada, bob], undefined],
  ['nobody that the message does not name', 'V-9999', 'x@example.org', [ada, bob], undefined],
  ['nobody', '', null, [], undefined],
])('finds %s', (_, text, email, customers, expected) => {
  const found = identifyCustomer(customers, { mentions: mentionsIn([text]), email });
  expect(found && [found.customer.id, found.contractId]).toEqual(expected);
});
