import type { JsonObject, JsonValue } from '@bufbuild/protobuf';
import { TicketSchema } from '@ticketing/contracts/ticketing/tickets/v1/ticket_pb.ts';
import { messageEncoder } from '@ticketing/rest/encode.ts';
import { type Caller, isHuman } from '@ticketing/service-kit/identity/caller.ts';
import type { Call } from '@ticketing/service-kit/server/call.ts';
import type { TagTree } from '../domain/tag-tree.ts';
import type { StoredTicket } from '../store/stored-ticket.ts';
import type { Context } from './context.ts';
import { ticketThatWasRead } from './single-ticket.ts';

const encodeTicket = messageEncoder(TicketSchema);

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
  const message = await ticketThatWasRead(context, call, stored, { withRawData: false, tree });
  const ticket = encodeTicket(message);
  const customer = ticket.customer ?? null;
  return {
    ticket,
    customer,
    contract: contractOf(customer, stored.ticket.contractId),
    agent: agentOf(call.caller) ?? ticket.agent ?? null,
    intent: null,
    in: {},
  };
}

/** The contract of the ticket among those of its customer. */
function contractOf(customer: JsonValue, contractId: string | null): JsonValue {
  if (!isObject(customer) || !Array.isArray(customer.contracts)) return null;
  return customer.contracts.find((contract) => isObject(contract) && contract.id === contractId) ?? null;
}

/** The person who calls: messages are written in their name. Undefined if a program calls. */
function agentOf(caller: Caller): JsonObject | undefined {
  if (!isHuman(caller) || caller.profileId === null) return undefined;
  const { profileId: id, firstName, lastName, email } = caller;
  return { id, firstName, lastName, email };
}

function isObject(value: JsonValue): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
