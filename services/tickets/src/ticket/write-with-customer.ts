import { DomainError } from '@ticketing/errors/domain-error.ts';
import type { Context } from '../context.ts';
import { firstMessageOf, hasSameCustomer, identify } from '../customer/identify.ts';
import { confirmedLegitimation } from '../customer/rules/legitimation.ts';
import type { TicketDecision } from './rules/decision.ts';
import type { TicketInput, TicketState } from './rules/fields.ts';
import type { StoredTicket } from './store/stored-ticket.ts';
import { type WriteOptions, writeTicket } from './write.ts';

/** A change of a ticket by a request. */
export interface RequestedChange {
  ticketId: number;
  /** The fields that the request sets. */
  input: TicketInput;
  /** Whether a person requests it: a person who sets the contract confirms it. */
  isHuman: boolean;
  /** Decides with the fields of the request and those that follow from them. */
  decide(stored: StoredTicket, input: TicketInput): TicketDecision;
}

const maxAttempts = 100;

/**
 * Writes a ticket. If the request sets its customer or contract, the fields that follow are set too: the customer of
 * the contract, the score, and the copy of the customer. If others change the customer while the ERP system is asked,
 * it is identified again.
 *
 * Errors: those of `writeTicket`; store_unavailable. Source: docs/reference/api.md, Legitimation.
 */
export async function writeWithCustomer(
  context: Context,
  { ticketId, input, isHuman, decide }: RequestedChange,
  options: WriteOptions,
): Promise<StoredTicket> {
  if (!setsCustomer(input)) return writeTicket(context, ticketId, (stored) => decide(stored, input), options);
  const deadline = context.customers.deadline();
  for (let attempt = 0; attempt < maxAttempts; attempt++) {
    const before = (await context.tickets.find(ticketId))?.ticket;
    // Without a ticket, the write fails.
    const following = before ? await fieldsThatFollow(context, before, input, { isHuman, deadline }) : {};
    let isStale = false;
    const stored = await writeTicket(
      context,
      ticketId,
      (current) => {
        isStale = !before || !hasSameCustomer(current.ticket, before);
        return isStale ? {} : decide(current, { ...following, ...input });
      },
      options,
    );
    if (!isStale) return stored;
  }
  throw new DomainError('aborted', 'concurrent_change', 'The customer of the ticket is being changed too often.');
}

/** The ticket as a change would leave it. Nothing is written. Errors: those of `decide`; store_unavailable. */
export async function plannedTicket(
  context: Pick<Context, 'customers'>,
  stored: StoredTicket,
  { input, isHuman, decide }: RequestedChange,
): Promise<TicketState> {
  const options = { isHuman, deadline: context.customers.deadline() };
  const following = setsCustomer(input) ? await fieldsThatFollow(context, stored.ticket, input, options) : {};
  return decide(stored, { ...following, ...input }).change?.after ?? stored.ticket;
}

const setsCustomer = ({ contractId, customerId }: TicketInput) => contractId !== undefined || customerId !== undefined;

/** The fields that follow if a request sets the customer or the contract of a ticket. */
async function fieldsThatFollow(
  context: Pick<Context, 'customers'>,
  ticket: TicketState,
  input: TicketInput,
  { isHuman, deadline }: { isHuman: boolean; deadline: number },
): Promise<TicketInput> {
  const changed = { ...ticket, ...input };
  // The customer of the contract is not looked for, because the request says that there is no customer.
  if (input.customerId === null) changed.contractId = null;
  const givesContract = (input.contractId ?? null) !== null;
  const followsContract = givesContract && input.customerId === undefined;
  const { input: identified } = await identify(context, changed, firstMessageOf(changed), {
    mode: 'cached',
    lookFor: followsContract ? 'customerOfContract' : 'nobody',
    deadline,
    current: input.contractId === null ? 0 : ticket.customerLegitimation,
  });
  // Customer and contract change only if the request says so, apart from the customer of a new contract.
  const { contractId: _, customerId, ...following } = identified;
  return {
    ...following,
    ...(followsContract && customerId !== undefined ? { customerId } : {}),
    ...(givesContract && isHuman ? { customerLegitimation: confirmedLegitimation } : {}),
  };
}
