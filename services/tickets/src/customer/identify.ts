import { Channel, Direction } from '@ticketing/contracts/ticketing/tickets/v1/enums_pb.ts';
import { isEmailAddress } from '../rules/mail-headers.ts';
import type { CustomerDirectory, ErpReadOptions, ErpResponse } from './directory.ts';
import { maxMatches } from './erp/erp.ts';
import {
  type Contract,
  type Customer,
  type CustomerCopy,
  hasPhone,
  phoneNumbers,
  toCustomerCopy,
} from './rules/customer.ts';
import { hasEmail, identifyCustomer, isShown, type Mentions, mentionsIn } from './rules/identify.ts';
import { computeLegitimation, type LegitimationFacts } from './rules/legitimation.ts';

/** The customer of a ticket, its contract, and how sure it is that they belong to the ticket. */
interface CustomerOfTicket {
  customerId: string | null;
  contractId: string | null;
  customerLegitimation: number;
}

/** The part of a ticket by which its customer is identified. */
interface IdentifiableTicket extends CustomerOfTicket, Omit<IdentifyingMessage, 'text' | 'earlier'> {
  id: number;
  /** The address of the person who wrote the first message, if it is not the sender. */
  author: string | null;
  /** The telephone number of the caller who opened the ticket. */
  callerNumber: string | null;
  channel: Channel;
  bodyPlain: string | null;
}

/** A message of a ticket, by which its customer is identified. */
interface IdentifyingMessage {
  direction: Direction;
  from: string | null;
  fromName: string | null;
  to: readonly string[];
  subject: string | null;
  /** The plain text. */
  text: string | null;
  /** The earlier texts of the same sender. */
  earlier?: readonly (string | null)[];
}

interface Identification {
  /** The fields of the ticket that follow from it; some may be unchanged. */
  input: CustomerOfTicket & Partial<CustomerCopy>;
  /** The customer; null if there is none, undefined if the ERP system did not respond. */
  customer: ErpResponse<Customer>;
}

interface IdentifyOptions {
  mode: ErpReadOptions['mode'];
  /** The deadline of the ERP system; by default that of any ticket. */
  deadline?: number;
  /**
   * The customer to look for. `anybody`, the default: the one whom the message shows, if neither customer nor contract
   * is set. `customerOfContract`: the one of the contract, even if another is set. `nobody`: none but those that are
   * set.
   */
  lookFor?: 'anybody' | 'customerOfContract' | 'nobody';
  /** The score from which the new one is computed; by default that of the ticket. */
  current?: number;
}

interface IdentifyDeps {
  customers: CustomerDirectory;
}

/** The first message of a ticket, as evidence of its customer. */
export function firstMessage(ticket: IdentifiableTicket): IdentifyingMessage {
  const { direction, author, from, fromName, to, subject, bodyPlain: text } = ticket;
  return { direction, from: author ?? from, fromName, to, subject, text };
}

const customerFields = ['customerId', 'contractId', 'customerLegitimation'] as const;

/** Whether nobody has changed the customer, the contract or the score of a ticket since it was read. */
export function hasSameCustomer(ticket: CustomerOfTicket, before: CustomerOfTicket): boolean {
  return customerFields.every((name) => ticket[name] === before[name]);
}

/**
 * Identifies the customer and the contract of a ticket, unless they are set, and computes how sure that is. If the ERP
 * system does not respond in time, what is set stays, and nothing is detected.
 *
 * Call it with a ticket that has the fields that a request sets, before the write that stores `input`.
 *
 * Errors: store_unavailable. Source: docs/reference/api.md, Customers and contracts; docs/reference/api.md, Legitimation.
 */
export async function identify(
  { customers }: IdentifyDeps,
  ticket: IdentifiableTicket,
  message: IdentifyingMessage,
  identifyOptions: IdentifyOptions,
): Promise<Identification> {
  const { mode, deadline = customers.deadline() } = identifyOptions;
  const { lookFor = 'anybody', current = ticket.customerLegitimation } = identifyOptions;
  const options: ErpReadOptions = { mode, ticketId: ticket.id, deadline };
  const traces = findTraces(ticket, message);
  const found =
    lookFor === 'anybody' && ticket.customerId === null && ticket.contractId === null
      ? await detect(customers, traces, options)
      : await readKnown(customers, ticket, { ...options, followsContract: lookFor === 'customerOfContract' });
  const { customerId, contractId, customer } = found;
  const facts: LegitimationFacts = {
    current,
    channel: ticket.channel,
    direction: message.direction,
    customerId,
    contractId,
    customer: customer ?? null,
    senderEmail: message.direction === Direction.IN ? traces.email : null,
    isSenderKnown: found.isSenderKnown,
    message: traces.mentions,
    letter: traces.letter,
  };
  const customerLegitimation = await score(customers, facts, options);
  const copy = customer === undefined ? {} : toCustomerCopy(customer);
  return { input: { customerId, contractId, customerLegitimation, ...copy }, customer };
}

/**
 * Does the same for a message that has arrived on a ticket. If its sender has written the first message, this counts
 * too. The score does not fall only because the ERP system does not respond.
 */
export async function identifyByMessage(
  deps: IdentifyDeps,
  ticket: IdentifiableTicket,
  message: IdentifyingMessage,
): Promise<Identification> {
  const isSameSender = message.from !== null && message.from === firstMessage(ticket).from;
  const earlier = isSameSender ? [ticket.subject, ticket.bodyPlain] : [];
  const identification = await identify(deps, ticket, { ...message, earlier }, { mode: 'cached' });
  const { input, customer } = identification;
  if (customer !== undefined) return identification;
  const customerLegitimation = Math.max(ticket.customerLegitimation, input.customerLegitimation ?? 0);
  return { ...identification, input: { ...input, customerLegitimation } };
}

interface Traces {
  mentions: Mentions;
  letter: Pick<Mentions, 'hasWords'>;
  /** The e-mail address of the customer's side. */
  email: string | null;
  /** The telephone number of the caller. */
  phone: string | null;
}

function findTraces(
  { channel, callerNumber: phone }: Pick<IdentifiableTicket, 'channel' | 'callerNumber'>,
  message: IdentifyingMessage,
): Traces {
  const { direction, from, fromName, to, subject, text, earlier = [] } = message;
  const texts = [subject, text, ...earlier];
  const mentions = mentionsIn(texts);
  const [recipient = null] = to.length === 1 ? to : [];
  const address = direction === Direction.IN ? from : recipient;
  return {
    mentions,
    letter: channel === Channel.LETTER ? mentionsIn([from, fromName, ...texts]) : mentions,
    email: channel !== Channel.SYSTEM && address !== null && isEmailAddress(address) ? address : null,
    phone,
  };
}

interface Found {
  customerId: string | null;
  contractId: string | null;
  customer: ErpResponse<Customer>;
  /** Whether the ERP system knows the e-mail address; undefined if it was not asked, or did not respond. */
  isSenderKnown?: boolean | undefined;
}

async function detect(customers: CustomerDirectory, traces: Traces, options: ErpReadOptions): Promise<Found> {
  const nobody = { customerId: null, contractId: null };
  const { mentions, email } = traces;
  if (options.mode === 'cacheOnly') return { ...nobody, customer: undefined };
  const hasTraces = email !== null || mentions.candidates.length > 0;
  const matches = hasTraces ? await customers.match({ ids: mentions.candidates, email }, options.deadline) : [];
  if (!matches) return { ...nobody, customer: undefined };
  const hasSender = matches.some((customer) => hasEmail(customer, email));
  // Otherwise other customers may fit as well, or have the address.
  const isComplete = matches.length < maxMatches;
  const isSenderKnown = hasSender || isComplete ? hasSender : undefined;
  const showsNobody = isComplete && !matches.some((customer) => isShown(customer, traces));
  const found = showsNobody
    ? await findCaller(customers, traces, options)
    : (isComplete && identifyCustomer(matches, traces)) || null;
  if (!found) return { ...nobody, customer: found, isSenderKnown };
  const { customer, contractId } = found;
  await customers.keep(customer, options.ticketId);
  return { customerId: customer.id, contractId, customer, isSenderKnown };
}

/**
 * The only customer with the telephone number of the caller: it counts least, because it can be forged. Returns null if
 * there is none, undefined if the ERP system did not respond.
 */
async function findCaller(
  customers: CustomerDirectory,
  { phone }: Traces,
  { deadline }: ErpReadOptions,
): Promise<ErpResponse<{ customer: Customer; contractId: null }>> {
  if (phone === null) return null;
  const matches = await customers.match({ ids: [], email: null, phone }, deadline);
  if (!matches) return undefined;
  const numbers = phoneNumbers(phone, await customers.country());
  const [customer, ...others] = matches.filter((one) => hasPhone(one, numbers));
  const isOnly = customer !== undefined && others.length === 0 && matches.length < maxMatches;
  return isOnly ? { customer, contractId: null } : null;
}

/** Reads the customer of a ticket: that of its contract, if the ERP system knows the contract, else the one it has. */
async function readKnown(
  customers: CustomerDirectory,
  { customerId, contractId }: CustomerOfTicket,
  options: ErpReadOptions & { followsContract: boolean },
): Promise<Found> {
  const isContractAsked = customerId === null || options.followsContract || options.mode === 'fresh';
  const mustReadContract = contractId !== null && isContractAsked;
  const contract: ErpResponse<Contract> = mustReadContract ? await customers.contract(contractId, options) : null;
  const id = contract?.customerId ?? customerId;
  if (id === null) return { customerId, contractId, customer: contract === undefined ? undefined : null };
  return { customerId: id, contractId, customer: await customers.customer(id, options) };
}

/** The score. Whether the ERP system knows the sender is asked only if the score depends on it. */
async function score(
  customers: CustomerDirectory,
  facts: LegitimationFacts,
  { mode, deadline }: ErpReadOptions,
): Promise<number> {
  if (facts.isSenderKnown !== undefined || facts.senderEmail === null || mode === 'cacheOnly') {
    return computeLegitimation(facts);
  }
  const ifKnown = computeLegitimation({ ...facts, isSenderKnown: true });
  const ifUnknown = computeLegitimation({ ...facts, isSenderKnown: false });
  if (ifKnown === ifUnknown) return ifKnown;
  const matches = await customers.match({ ids: [], email: facts.senderEmail }, deadline);
  return matches && !matches.some((customer) => hasEmail(customer, facts.senderEmail)) ? ifUnknown : ifKnown;
}
