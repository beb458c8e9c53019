import type { JsonObject, JsonValue } from '@bufbuild/protobuf';
import { ContractSchema } from '@ticketing/contracts/ticketing/tickets/v1/customer_pb.ts';
import { type Ticket, TicketSchema } from '@ticketing/contracts/ticketing/tickets/v1/ticket_pb.ts';
import { messageEncoder } from '@ticketing/rest/encode.ts';
import { type Caller, isHuman } from '@ticketing/service-kit/identity/caller.ts';
import type { Call } from '@ticketing/service-kit/server/call.ts';
import type { TagTree } from '../domain/tag-tree.ts';
import { contractMessage } from '../erp/customer-codec.ts';
import type { StoredTicket } from '../store/stored-ticket.ts';
import type { Context } from './context.ts';
import { ticketThatWasRead } from './single-ticket.ts';

const encodeTicket = messageEncoder(TicketSchema);
const encodeContract = messageEncoder(ContractSchema);

/**
 * Makes the data that templates for a ticket are rendered with.
 *
 * Shape: `{ticket, customer, contract, agent, intent, in}`, as the REST API writes them.
 * Errors: those of `ticketThatWasRead`.
 * Source: docs/reference/api.md, Variables.
 */
export async function templateVariables(
  context: Context,
  call: Call,
  stored: StoredTicket,
  tree: TagTree,
): Promise<JsonObject> {
  const deadline = context.customers.deadline();
  const erp = { mode: 'cached', deadline } as const;
  const message = await ticketThatWasRead(context, call, stored, { withRawData: false, tree, erp });
  const ticket = encodeTicket(message);
  return {
    ticket,
    customer: ticket.customer ?? null,
    contract: await contractOf(context, message, deadline),
    agent: agentOf(call.caller) ?? ticket.agent ?? null,
    intent: null,
    in: {},
  };
}

/** The contract of a ticket: one of its customer's, else as the ERP system knows it; null if it is not known in time. */
async function contractOf(context: Context, ticket: Ticket, deadline: number): Promise<JsonValue> {
  const { id: ticketId, contractId, customer } = ticket;
  if (contractId === undefined) return null;
  const isSame = ({ id }: { id: string }) => id.trim().toLowerCase() === contractId.trim().toLowerCase();
  const ofCustomer = customer?.contracts.find(isSame);
  if (ofCustomer) return encodeContract(ofCustomer);
  const contract = await context.customers.contract(contractId, { mode: 'cached', ticketId, deadline });
  return contract ? encodeContract(contractMessage(contract)) : null;
}

/** The person who calls: messages are written in their name. Undefined if a program calls. */
function agentOf(caller: Caller): JsonObject | undefined {
  if (!isHuman(caller) || caller.profileId === null) return undefined;
  const { profileId: id, firstName, lastName, email } = caller;
  return { id, firstName, lastName, email };
}
