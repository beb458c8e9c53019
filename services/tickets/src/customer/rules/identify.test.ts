import { describe, expect, it } from 'vitest';
import type { Contract, Customer } from './customer.ts';
import { identifyCustomer, idKey, maxCandidates, maxMentionsLength, mentionsIn } from './identify.ts';

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

describe('candidates', () => {
  it.each([
    ['Mein Vertrag V-4711 läuft', ['V-4711', '4711']],
    ['Kd.-Nr.4711/22', ['Nr.4711/22', 'Nr.4711', '4711/22', '4711']],
    ['VN4711', ['VN4711']],
    ['um 10 Uhr, 100 Euro', []],
    ['1000 Euro', ['1000']],
    ['k1 K22', ['K22']],
    ['keine Nummer', []],
    ['', []],
  ])('of "%s"', (text, candidates) => {
    expect(mentionsIn([text]).candidates).toEqual(candidates);
  });

  it('come once, from all texts, and are at most 40', () => {
    expect(mentionsIn(['A-12345', null, 'a-12345 B-12345']).candidates).toEqual(['A-12345', '12345', 'B-12345']);
    const many = Array.from({ length: 41 }, (_, index) => `X${index + 100}`);
    expect(mentionsIn([many.slice(0, 40).join(' ')]).candidates).toHaveLength(40);
    expect(mentionsIn([many.join(' ')]).candidates).toHaveLength(maxCandidates);
  });

  it('have at most 50 characters', () => {
    expect(mentionsIn([`${'9'.repeat(50)} ${'8'.repeat(51)}`]).candidates).toEqual(['9'.repeat(50)]);
  });
});

describe('an id', () => {
  it.each([
    ['V-4711', 'v4711'],
    ['V-4711', 'Vertrag:v/4711.'],
    ['4711', '(4711)'],
    ['12', 'Kunde 12'],
  ])('%s is in "%s"', (id, text) => {
    expect(mentionsIn([text]).hasId(id)).toBe(true);
  });

  it.each([
    ['4711', '47110'],
    ['4711', 'x4711'],
    ['V-4711', '4711'],
    ['', ''],
  ])('%s is not in "%s"', (id, text) => {
    expect(mentionsIn([text]).hasId(id)).toBe(false);
  });

  it('is compared without case, width and punctuation', () => {
    expect(idKey('v-4711/A')).toBe(idKey('V 4711 a'));
  });
});

it('finds words only as a whole, in their order', () => {
  const { hasWords } = mentionsIn(['Gruß, Anna-Lena Müller\nMusterstr. 12']);
  expect(['müller', 'Lena MULLER', 'Musterstraße 12'].map(hasWords)).toEqual([true, true, true]);
  expect(['Mülle', 'Müller Lena', 'Musterstr. 1', '', '-', null].map(hasWords)).toEqual(Array(6).fill(false));
});

it('reads the first characters of a text only', () => {
  const text = `${' '.repeat(maxMentionsLength - 4)}4711`;
  expect(mentionsIn([text]).hasId('4711')).toBe(true);
  expect(mentionsIn([` ${text}`]).hasId('4711')).toBe(false);
});
