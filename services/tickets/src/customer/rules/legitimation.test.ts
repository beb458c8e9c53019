import { Channel, Direction } from '@ticketing/contracts/ticketing/tickets/v1/enums_pb.ts';
import { describe, expect, it } from 'vitest';
import type { Contract, Customer } from './customer.ts';
import { mentionsIn } from './identify.ts';
import { computeLegitimation, type LegitimationFacts, legitimationMessage } from './legitimation.ts';

const contract: Contract = {
  id: 'V-4711',
  customerId: 'K-1',
  status: null,
  startDate: null,
  endDate: null,
  productName: null,
  zip: null,
  email: 'vertrag@example.org',
  additionalData: null,
  rawData: null,
};
const customer: Customer = {
  id: 'K-1',
  business: false,
  company: null,
  firstname: 'Ada',
  lastname: 'von Grünwald',
  email: 'ada@example.org',
  phone: null,
  address: 'Musterstraße 1a',
  zip: '12345',
  city: 'Köln',
  tagIds: [],
  contracts: [contract, { ...contract, id: 'V-2', email: 'other@example.org' }],
  additionalData: null,
};

/** An e-mail of an unknown sender about the customer, in which nothing is written. */
const plain: LegitimationFacts = {
  current: 0,
  channel: Channel.EMAIL,
  direction: Direction.IN,
  customerId: 'K-1',
  contractId: 'V-4711',
  customer,
  senderEmail: 'someone@example.net',
  isSenderKnown: true,
  message: mentionsIn([]),
  letter: mentionsIn([]),
};
const says = (text: string) => ({ message: mentionsIn([text]), letter: mentionsIn([text]) });
const unknownSender = { isSenderKnown: false };
const nobody = { customerId: null, contractId: null, customer: null };
const everything = says('Kunde K-1, Vertrag V-4711, Ada von Grünwald, Musterstr. 1a, 12345 Köln');

const rows: [number, string, Partial<LegitimationFacts>][] = [
  // spec: 7.1
  [0, 'no customer', { ...nobody }],
  // spec: 7.1
  [0, 'a customer without a contract', { contractId: null }],
  [0, 'a contract without a customer', { customerId: null, customer: null }],
  // spec: 7.2
  [10, 'nothing matches', {}],
  // spec: 7.2
  [10, 'nothing matches in a call', { channel: Channel.PHONE, senderEmail: null, isSenderKnown: undefined }],
  [10, 'nothing matches in a letter', { channel: Channel.LETTER, senderEmail: null, isSenderKnown: undefined }],
  [10, 'nothing matches in a visit', { channel: Channel.WALK_IN, senderEmail: null, isSenderKnown: undefined }],
  [10, 'the ERP system did not respond', { customer: null, isSenderKnown: undefined }],
  // spec: 7.3
  [12, 'the address of the sender is unknown', unknownSender],
  // spec: 7.1
  [12, 'nobody is identified, and the address is unknown', { ...nobody, ...unknownSender }],
  [12, 'there is no contract, and the address is unknown', { contractId: null, ...unknownSender }],
  // spec: 7.4
  [13, 'the contract id and the last name are in the message', says('von grünwald, V-4711')],
  [13, 'the customer id and the last name are in the message', says('k-1: VON GRUNWALD')],
  // spec: 7.5
  [15, 'both ids are in the message', says('Kunde K-1, Vertrag V4711')],
  // spec: 7.6
  [20, 'the channel is system', { channel: Channel.SYSTEM }],
  // spec: 7.6
  [20, 'the message is outgoing', { direction: Direction.OUT }],
  // spec: 7.6
  [20, 'the message is internal', { direction: Direction.INTERNAL }],
  // spec: 7.7
  [20, 'the sender has the address of the customer', { senderEmail: 'Ada@Example.org' }],
  // spec: 7.7
  [20, 'the sender has the address of the contract', { senderEmail: 'vertrag@example.org' }],
  // spec: 7.8
  [20, 'a letter has the address', { channel: Channel.LETTER, ...says('Musterstr. 1a\n12345 Köln') }],
  // spec: 7.9
  [30, 'it was confirmed', { current: 30 }],
  // spec: 7.10
  [40, 'it has a custom level', { current: 40 }],
  // spec: 7.10
  [100, 'it has the highest level', { current: 100 }],
];

describe('the score is', () => {
  // spec: 6.46
  it.each(rows)('%i if %s', (score, _, facts) => {
    expect(computeLegitimation({ ...plain, ...facts })).toBe(score);
  });

  it.each<[string, Partial<LegitimationFacts>]>([
    ['the address of another contract of the customer', { senderEmail: 'other@example.org' }],
    ['the address, but in an e-mail', says('Musterstr. 1a, 12345 Köln')],
    ['a letter with the street only', { channel: Channel.LETTER, ...says('Musterstraße 1a, 54321 Köln') }],
    ['a letter with the place only', { channel: Channel.LETTER, ...says('12345 Köln') }],
    ['the last name only', says('von Grünwald')],
    ['a part of the last name', says('V-4711, Grünwald')],
    ['one id only', says('V-4711')],
    ['an id that begins with the contract id', says('K-1, V-47111')],
  ])('10 for %s', (_, facts) => {
    expect(computeLegitimation({ ...plain, ...facts })).toBe(10);
  });
});

describe('the first rule that applies wins', () => {
  it.each<[number, string, Partial<LegitimationFacts>]>([
    [20, 'below 30 it is computed anew', { current: 29, channel: Channel.SYSTEM }],
    [30, 'a confirmed score before the missing customer', { current: 30, ...nobody, ...unknownSender }],
    [31, 'a confirmed score before what is certain', { current: 31, channel: Channel.SYSTEM }],
    [0, 'the missing contract before the channel system', { contractId: null, channel: Channel.SYSTEM }],
    [0, 'the missing contract before the direction', { ...nobody, direction: Direction.OUT, ...unknownSender }],
    [12, 'the missing contract before the ids', { ...everything, contractId: null, ...unknownSender }],
    [20, '20 before 15 and 13', { ...everything, senderEmail: 'ada@example.org' }],
    [20, '20 before the unknown sender', { ...unknownSender, direction: Direction.INTERNAL }],
    [15, '15 before 13', everything],
    [15, '15 before the unknown sender', { ...everything, ...unknownSender }],
    [13, '13 before the unknown sender', { ...says('V-4711 von Grünwald'), ...unknownSender }],
    [12, '12 before 10', unknownSender],
  ])('%i: %s', (score, _, facts) => {
    expect(computeLegitimation({ ...plain, ...facts })).toBe(score);
  });

  it('a score of a sender without an e-mail address is never 12', () => {
    const phone = { channel: Channel.PHONE, senderEmail: null, isSenderKnown: undefined };
    expect(computeLegitimation({ ...plain, ...phone })).toBe(10);
    expect(computeLegitimation({ ...plain, ...phone, ...nobody })).toBe(0);
  });
});

describe('the message', () => {
  // spec: 6.63
  it('is there for 10 to 19 only', () => {
    const shown = Array.from({ length: 101 }, (_, score) => score).filter((score) => legitimationMessage(score));
    expect(shown).toEqual([10, 11, 12, 13, 14, 15, 16, 17, 18, 19]);
  });

  it('is another sentence for each score of the table', () => {
    expect(new Set([10, 12, 13, 15].map(legitimationMessage)).size).toBe(4);
    expect(legitimationMessage(12)).toBe('The e-mail address of the sender is not known in the ERP system.');
  });
});
