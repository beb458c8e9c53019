import type { JsonObject, JsonValue } from '@bufbuild/protobuf';
import { ContractSchema } from '@ticketing/contracts/ticketing/tickets/v1/customer_pb.ts';
import { TicketIntentSchema } from '@ticketing/contracts/ticketing/tickets/v1/intent_pb.ts';
import { type Ticket, TicketSchema } from '@ticketing/contracts/ticketing/tickets/v1/ticket_pb.ts';
import type {
  GetTemplateVariablesRequest,
  GetTemplateVariablesResponse,
  GetTicketVariablesRequest,
  GetTicketVariablesResponse,
} from '@ticketing/contracts/ticketing/tickets/v1/ticket_service_pb.ts';
import { notFound } from '@ticketing/errors/domain-error.ts';
import { messageEncoder } from '@ticketing/rest/codec/encode.ts';
import type { LargeJson } from '@ticketing/rest/limits/large-json.ts';
import type { Call } from '@ticketing/service-kit/call/call.ts';
import { type Caller, callerKey, isHuman } from '@ticketing/service-kit/identity/caller.ts';
import type { CustomerDirectory, ErpReadOptions } from '../../customer/directory.ts';
import { contractMessage } from '../../customer/erp/codec.ts';
import type { TagTree } from '../../tag/rules.ts';
import type { TagStore } from '../../tag/store.ts';
import type { StoredTicket } from '../store/document.ts';
import type { TicketStore } from '../store/store.ts';
import type { ReadCall, TicketViews } from '../views.ts';

const encodeTicket = messageEncoder(TicketSchema);
const encodeContract = messageEncoder(ContractSchema);
const encodeIntent = messageEncoder(TicketIntentSchema);

export interface VariableDeps {
  customers: CustomerDirectory;
  views: Pick<TicketViews, 'read'>;
  json: Pick<LargeJson, 'write'>;
}

interface VariableOptions {
  tree: TagTree;
  /** The contract that is shown. Default: that of the ticket. */
  contractId?: string | undefined;
  /** The intent that the template is for, by its id. */
  intentId?: number | undefined;
  /** The data that templates read as `in`. */
  templateData?: JsonObject | undefined;
}

/**
 * Makes the data that templates for a ticket are rendered with.
 *
 * Shape: `{ticket, customer, contract, agent, intent, in}`, as the REST API writes them.
 * Errors: those of `TicketViews.read`. Source: docs/reference/api.md, Variables.
 */
export async function templateVariables(
  deps: VariableDeps,
  call: ReadCall,
  stored: StoredTicket,
  { tree, contractId, intentId, templateData = {} }: VariableOptions,
): Promise<JsonObject> {
  const deadline = deps.customers.deadline();
  const erp = { mode: 'cached', deadline } as const;
  const message = await deps.views.read(call, stored, { withRawData: false, tree, erp });
  const ticket = encodeTicket(message);
  return {
    ticket,
    customer: ticket.customer ?? null,
    contract: await findContract(deps, message, contractId ?? message.contractId, deadline),
    agent: callingAgent(call.caller) ?? ticket.agent ?? null,
    intent: findIntent(message, intentId),
    in: templateData,
  };
}

/** Makes the data for templates without a ticket: the agent, and a contract if one is given. */
async function contractVariables(
  deps: VariableDeps,
  call: Pick<ReadCall, 'caller'>,
  contractId: string | undefined,
): Promise<JsonObject> {
  const options = { mode: 'cached', deadline: deps.customers.deadline() } as const;
  return {
    ticket: null,
    customer: null,
    contract: contractId === undefined ? null : await readContract(deps.customers, contractId, options),
    agent: callingAgent(call.caller) ?? null,
    intent: null,
    in: {},
  };
}

/** Writes the data as JSON in UTF-8, elsewhere if that takes long. */
export async function variablesJson(
  json: Pick<LargeJson, 'write'>,
  { caller }: Pick<ReadCall, 'caller'>,
  variables: JsonObject,
): Promise<Uint8Array> {
  const written = await json.write(callerKey(caller), variables);
  return typeof written === 'string' ? Buffer.from(written) : written;
}

/** A contract for a ticket: one of its customer's, else as the ERP system knows it; null if it is not known in time. */
async function findContract(
  { customers }: VariableDeps,
  { id: ticketId, customer }: Ticket,
  contractId: string | undefined,
  deadline: number,
): Promise<JsonValue> {
  if (contractId === undefined) return null;
  const isSame = ({ id }: { id: string }) => id.trim().toLowerCase() === contractId.trim().toLowerCase();
  const ofCustomer = customer?.contracts.find(isSame);
  if (ofCustomer) return encodeContract(ofCustomer);
  return readContract(customers, contractId, { mode: 'cached', ticketId, deadline });
}

async function readContract(
  customers: CustomerDirectory,
  contractId: string,
  options: ErpReadOptions,
): Promise<JsonValue> {
  const contract = await customers.contract(contractId, options);
  return contract ? encodeContract(contractMessage(contract)) : null;
}

function findIntent({ intents }: Ticket, intentId: number | undefined): JsonValue {
  const intent = intents.find(({ id }) => id === intentId);
  return intent ? encodeIntent(intent) : null;
}

/** The person who calls: messages are written in their name. Undefined if a program calls. */
function callingAgent(caller: Caller): JsonObject | undefined {
  if (!isHuman(caller) || caller.profileId === null) return undefined;
  const { profileId: id, firstName, lastName, email } = caller;
  return { id, firstName, lastName, email };
}

interface GetVariablesDeps extends VariableDeps {
  tickets: Pick<TicketStore, 'find'>;
  tags: Pick<TagStore, 'tree'>;
}

/**
 * Returns the data that templates for a ticket are rendered with.
 *
 * Errors: ticket_not_found; too_much_at_once, sandbox_busy and sandbox_crashed, for a large ticket.
 * Source: docs/reference/api.md, Variables.
 */
export async function getTicketVariables(
  deps: GetVariablesDeps,
  call: Call,
  { ticketId }: GetTicketVariablesRequest,
): Promise<GetTicketVariablesResponse> {
  const variables = await variablesOfTicket(deps, call, ticketId, undefined);
  return { $typeName: 'ticketing.tickets.v1.GetTicketVariablesResponse', variables };
}

/**
 * Returns the data that templates are rendered with, for a ticket or for a contract, as JSON.
 *
 * Errors: ticket_not_found; too_much_at_once, sandbox_busy and sandbox_crashed, for a large ticket.
 * Source: docs/reference/api.md, Variables.
 */
export async function getTemplateVariables(
  deps: GetVariablesDeps,
  call: Call,
  { ticketId, contractId }: GetTemplateVariablesRequest,
): Promise<GetTemplateVariablesResponse> {
  const variables =
    ticketId === undefined
      ? await contractVariables(deps, call, contractId)
      : await variablesOfTicket(deps, call, ticketId, contractId);
  return {
    $typeName: 'ticketing.tickets.v1.GetTemplateVariablesResponse',
    variables: await variablesJson(deps.json, call, variables),
  };
}

async function variablesOfTicket(deps: GetVariablesDeps, call: Call, ticketId: number, contractId: string | undefined) {
  const [stored, tree] = await Promise.all([deps.tickets.find(ticketId), deps.tags.tree()]);
  if (!stored) throw notFound('Ticket');
  return templateVariables(deps, call, stored, { tree, contractId });
}
