import type { Ticket } from '@ticketing/contracts/ticketing/tickets/v1/ticket_pb.ts';
import type { Call } from '@ticketing/service-kit/call/call.ts';
import { callerKey } from '@ticketing/service-kit/identity/caller.ts';
import type { Context } from '../context.ts';
import type { ErpReadOptions } from '../customer/directory.ts';
import { readCustomer } from '../customer/read.ts';
import type { StoredTicket } from './store/stored-ticket.ts';
import { fullTicket, type RenderOptions } from './to-proto.ts';

/** The caller that reads a ticket, and the hooks of the response, which release its bytes. */
export type ReadCall = Pick<Call, 'caller' | 'signal' | 'onEncoded' | 'onEnd' | 'endResponse'>;

type Options = Pick<RenderOptions, 'withRawData' | 'tree'>;

/**
 * Makes the message of the only ticket of a response. A large one counts as a page until the response has been sent.
 *
 * Errors: those of `fullTicket`; too_much_at_once.
 */
export async function ticketThatWasRead(
  context: Context,
  call: ReadCall,
  stored: StoredTicket,
  options: Options & { erp?: Pick<ErpReadOptions, 'mode' | 'deadline'> },
): Promise<Ticket> {
  const customer = readCustomer(context, stored.ticket, options.erp);
  // It may fail before it is awaited.
  customer.catch(() => undefined);
  await takeBytes(context, call, stored, options);
  return fullTicket(context, stored, { ...options, caller: call.caller, customer });
}

/**
 * Does the same for the response to a write, which has happened: if the bytes are not free in time, the response is made
 * nevertheless, and if texts cannot be made, without them.
 */
export async function ticketThatWasWritten(
  context: Context,
  call: Call,
  stored: StoredTicket,
  options: Options,
): Promise<Ticket> {
  await takeBytes(context, call, stored, options).catch((error: unknown) => {
    call.log.warn({ err: error }, 'a large response to a write is not counted');
  });
  const customer = readCustomer(context, stored.ticket).catch((error: unknown) => {
    call.log.warn({ err: error }, 'a response to a write is without its customer');
    return undefined;
  });
  return fullTicket(context, stored, { ...options, caller: call.caller, customer, isAfterWrite: true });
}

function takeBytes(
  context: Context,
  call: ReadCall,
  { ticket }: StoredTicket,
  { withRawData }: Options,
): Promise<void> {
  const texts = [
    ticket.bodyHtml ?? ticket.body,
    ticket.bodyPlain,
    ticket.bodyClean,
    ticket.clientData,
    ticket.workitem,
  ];
  if (withRawData) texts.push(ticket.rawData);
  const bytes = texts.reduce((sum, text) => sum + (text?.length ?? 0), 0);
  return context.pages.take(callerKey(call.caller), bytes, call);
}
