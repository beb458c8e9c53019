import { Channel, Direction } from '@ticketing/contracts/ticketing/tickets/v1/enums_pb.ts';
import { type Customer, contractOf, isSameEmail } from './customer.ts';
import type { Mentions } from './identify.ts';

/** The facts that decide the score of a ticket. */
export interface LegitimationFacts {
  /** The score so far. */
  current: number;
  channel: Channel;
  /** The direction of the message. */
  direction: Direction;
  customerId: string | null;
  contractId: string | null;
  /** The customer as the ERP system knows it; null if it does not, or did not respond. */
  customer: Customer | null;
  /** The address of a sender who has an e-mail address. */
  senderEmail: string | null;
  /** Whether the ERP system knows that address; undefined if it did not respond. */
  isSenderKnown: boolean | undefined;
  /** The ids and words that the message mentions. */
  message: Pick<Mentions, 'hasId' | 'hasWords'>;
  /** The words that a letter mentions, including its sender. */
  letter: Pick<Mentions, 'hasWords'>;
}

/** A score of this or more was confirmed by somebody, and is never computed again. */
export const confirmedLegitimation = 30;

/**
 * How sure it is who the customer of a ticket is. The first rule that applies wins.
 *
 * Source: docs/reference/api.md, Legitimation.
 */
export function computeLegitimation(facts: LegitimationFacts): number {
  if (facts.current >= confirmedLegitimation) return facts.current;
  const isUnknownSender = isIncoming(facts) && facts.senderEmail !== null && facts.isSenderKnown === false;
  if (facts.customerId === null || facts.contractId === null) return isUnknownSender ? 12 : 0;
  if (isCertain(facts)) return 20;
  const hasContractId = facts.message.hasId(facts.contractId);
  const hasCustomerId = facts.message.hasId(facts.customerId);
  if (hasContractId && hasCustomerId) return 15;
  if ((hasContractId || hasCustomerId) && facts.message.hasWords(facts.customer?.lastname ?? null)) return 13;
  return isUnknownSender ? 12 : 10;
}

function isIncoming({ channel, direction }: LegitimationFacts): boolean {
  return channel !== Channel.SYSTEM && direction === Direction.IN;
}

function isCertain(facts: LegitimationFacts): boolean {
  const { channel, customer, contractId, senderEmail } = facts;
  if (!isIncoming(facts)) return true;
  const contract = contractOf(customer, contractId);
  if (isSameEmail(senderEmail, customer?.email ?? null)) return true;
  if (isSameEmail(senderEmail, contract?.email ?? null)) return true;
  return channel === Channel.LETTER && customer !== null && hasAddress(facts.letter, customer);
}

/** Whether a letter contains street, number and place of a customer. */
function hasAddress(letter: LegitimationFacts['letter'], { address, zip, city }: Customer): boolean {
  return letter.hasWords(address) && (letter.hasWords(zip) || (zip === null && letter.hasWords(city)));
}

const messages = new Map([
  [10, 'Neither the sender nor the message shows that it comes from the customer.'],
  [12, 'The e-mail address of the sender is not known in the ERP system.'],
  [13, 'The message contains the last name and the id of the customer or contract, but the sender is not known.'],
  [15, 'The message contains the ids of the customer and the contract, but the sender is not known.'],
]);

/** Why a score is not higher; undefined for a score that is not from 10 to 19. */
export function legitimationMessage(score: number): string | undefined {
  if (score < 10 || score > 19) return undefined;
  return messages.get(score) ?? 'The identity of the customer is not confirmed.';
}
