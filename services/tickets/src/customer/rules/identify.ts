import { fold, wordSequence } from '@ticketing/text/words.ts';
import { type Contract, type Customer, isSameEmail } from './customer.ts';

/** The traces of its customer in a message. */
interface CustomerTraces {
  mentions: Pick<Mentions, 'hasId'>;
  /** The e-mail address of the customer's side. */
  email: string | null;
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
export function identifyCustomer(
  customers: readonly Customer[],
  traces: CustomerTraces,
): { customer: Customer; contractId: string | null } | undefined {
  const ranked = customers
    .map((customer) => ({ customer, rank: rankCustomer(customer, traces) }))
    .filter(({ rank }) => rank > 0)
    .sort((left, right) => right.rank - left.rank);
  const [best, second] = ranked;
  if (!best || best.rank === second?.rank) return undefined;
  return { customer: best.customer, contractId: chooseContract(best.customer.contracts, traces)?.id ?? null };
}

/** Whether a message shows a customer. */
export function isShown(customer: Customer, traces: CustomerTraces): boolean {
  return rankCustomer(customer, traces) > 0;
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

/** The ids and sequences of words in texts. */
export interface Mentions {
  /** Whether the text contains the id, whatever its case and punctuation. */
  hasId(id: string): boolean;
  /** Whether the text contains the words, in this order and next to each other. */
  hasWords(words: string | null): boolean;
  /** The possible ids of customers or contracts, as they are written, in the order of the texts. */
  candidates: readonly string[];
}

/** How many characters of each text are read. */
export const maxMentionsLength = 20_000;
/** How many candidates are looked up in the ERP system. */
export const maxCandidates = 40;
const maxIdLength = 50;
/** A token of more parts is a path or a list. */
const maxParts = 5;

/**
 * Finds the ids and words that texts mention, in time linear in their length.
 *
 * A candidate has a digit and at least 3 characters, or 4 if all of them are digits: shorter numbers are in every text.
 */
export function mentionsIn(texts: readonly (string | null)[]): Mentions {
  const keys = new Set<string>();
  const candidates = new Map<string, string>();
  for (const text of texts) {
    for (const [token] of (text ?? '').slice(0, maxMentionsLength).matchAll(tokenPattern)) {
      for (const id of idsIn(token)) {
        const key = idKey(id);
        keys.add(key);
        if (candidates.size < maxCandidates && isCandidate(id) && !candidates.has(key)) candidates.set(key, id);
      }
    }
  }
  const sequences = texts.map((text) => plainStreets(wordSequence(text, maxMentionsLength)));
  return {
    hasId: (id) => keys.has(idKey(id)),
    hasWords(words) {
      const sought = plainStreets(wordSequence(words, maxMentionsLength));
      return sought.trim() !== '' && sequences.some((sequence) => sequence.includes(sought));
    },
    candidates: [...candidates.values()],
  };
}

/** The form in which ids are compared: letters and digits only, without differences of case. */
export function idKey(id: string): string {
  return fold(id).replace(/[^\p{L}\p{N}]+/gu, '');
}

/** Matches words and numbers that are joined by the separators of ids. */
const tokenPattern = /[\p{L}\p{N}]+(?:[-._/#][\p{L}\p{N}]+)*/gu;

/** The ids that a token may contain: `Kd.-Nr.V-4711` contains `V-4711`. */
function* idsIn(token: string): Generator<string> {
  if (token.length > 4 * maxIdLength || !/\p{N}/u.test(token)) return;
  const parts = token.split(/([-._/#])/);
  if (parts.length > 2 * maxParts - 1) return;
  for (let start = 0; start < parts.length; start += 2) {
    for (let end = parts.length; end > start; end -= 2) {
      const id = parts.slice(start, end).join('');
      if (id.length <= maxIdLength && /\p{N}/u.test(id)) yield id;
    }
  }
}

function isCandidate(id: string): boolean {
  return id.length >= (/^\p{N}+$/u.test(id) ? 4 : 3);
}

/** `Musterstr. 1` and `Musterstraße 1` are the same address. */
function plainStreets(sequence: string): string {
  return sequence.replaceAll('str ', 'strasse ');
}
