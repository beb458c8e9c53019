import type { DescMessage } from '@bufbuild/protobuf';
import type {
  Customer as CustomerMessage,
  CustomerSummary,
} from '@ticketing/contracts/ticketing/tickets/v1/customer_pb.ts';
import {
  type Ticket,
  TicketSchema,
  type TicketSummary,
  TicketSummarySchema,
} from '@ticketing/contracts/ticketing/tickets/v1/ticket_pb.ts';
import { type Caller, serviceCaller } from '@ticketing/service-kit/identity/caller.ts';
import { compileObject, type Source } from '@ticketing/store/document/compile-object.ts';
import type { Context } from '../context.ts';
import type { ErpResponse } from '../customer/directory.ts';
import { type Customer, customerCopyOf } from '../customer/rules/customer.ts';
import { customerMessage, customerSummary } from '../customer/to-proto.ts';
import { shownBody, withCurrentTexts } from '../message/text/shown-body.ts';
import { settingsKnowing } from '../settings-knowing.ts';
import { type TagTree, tagTree } from '../tag/rules/tree.ts';
import { computedFields, profileIds, type RenderContext } from './computed-fields.ts';
import { intentMessages, intentSummaries } from './intent-to-proto.ts';
import { fieldOf, initialTicket, type TicketFieldName, ticketFields } from './rules/fields.ts';
import { ownAddresses } from './rules/mailbox.ts';
import { newStoredTicket, type StoredTicket } from './store/stored-ticket.ts';

/** The options for rendering tickets as messages. */
export interface RenderOptions {
  caller: Caller;
  withRawData: boolean;
  /**
   * The tags, read before the tickets or together with them: waiting for the tags afterwards would keep the tickets of
   * many requests in memory. They may be a second old, and are read again if a ticket or the customer of one has a tag that
   * they lack.
   */
  tree: TagTree;
  /** Whether each message is made only when it is read, and again each time, so that no two are in memory at once. */
  isLarge?: boolean;
  /** Whether the tickets were just written. Texts of bodies then cause no error. */
  isAfterWrite?: boolean;
}

/**
 * Makes the message of a ticket in full form, with its customer if that was read.
 *
 * Errors: sandbox_busy, sandbox_crashed, if texts of a long body have to be made again; those of the read.
 * Source: docs/reference/api.md, Forms of a ticket; docs/reference/api.md, Ticket fields.
 */
export async function fullTicket(
  context: Context,
  stored: StoredTicket,
  options: RenderOptions & { customer?: Promise<ErpResponse<Customer>> },
): Promise<Ticket> {
  const current = await withCurrentTexts(context, stored, options);
  const [body, customer] = await Promise.all([shownBody(current.ticket), options.customer]);
  const shown =
    customer === undefined ? current : { ...current, ticket: { ...current.ticket, ...customerCopyOf(customer) } };
  const customerOf: CustomerOf = (one, tree) => (customer ? customerMessage(customer, tree, one) : undefined);
  const intentsOf: IntentsOf = ({ id, intents }) => intentMessages(id, intents);
  const tree = await treeWith(context, options.tree, customer?.tagIds ?? []);
  const parts = { customerOf, intentsOf };
  const [ticket] = await render(context, [shown], { ...options, tree }, parts, (one, renderContext) =>
    renderFull(one, renderContext, body),
  );
  if (!ticket) throw new Error('there is no message for the ticket');
  return ticket;
}

/** Makes the messages of tickets in compact form. */
export async function compactTickets(
  context: Context,
  stored: readonly StoredTicket[],
  options: RenderOptions,
): Promise<TicketSummary[]> {
  const customerTagIds = stored.flatMap(({ ticket }) => ticket.customerTagIds);
  const tree = await treeWith(context, options.tree, customerTagIds);
  const parts = {
    customerOf: customerSummary,
    intentsOf: ({ intents }: StoredTicket['ticket']) => intentSummaries(intents),
  };
  return render(context, stored, { ...options, tree }, parts, (one, renderContext) =>
    renderCompact(one, renderContext),
  );
}

/** Makes the message of a ticket's customer. */
type CustomerOf = (ticket: StoredTicket['ticket'], tree: TagTree) => CustomerMessage | CustomerSummary | undefined;

/** Makes the messages of a ticket's intents. */
type IntentsOf = RenderContext['intentsOf'];

async function render<Message>(
  context: Context,
  stored: readonly StoredTicket[],
  options: RenderOptions,
  { customerOf, intentsOf }: { customerOf: CustomerOf; intentsOf: IntentsOf },
  renderOne: (stored: StoredTicket, context: RenderContext) => Message,
): Promise<Message[]> {
  const now = context.now();
  const tagIds = stored.flatMap(({ ticket }) => ticket.tagIds);
  const tree = await treeWith(context, options.tree, tagIds);
  const profiles = await context.profiles.find(stored.flatMap((one) => profileIds(one, now)));
  const settings = await settingsKnowing(
    context,
    stored.map(({ ticket }) => ticket.subchannelId),
  );
  const renderContext: RenderContext = {
    ...options,
    tree,
    profiles,
    subchannels: settings.subchannels,
    isOurs: ownAddresses(settings),
    customerOf: (ticket) => customerOf(ticket, tree),
    intentsOf,
    now,
  };
  const make = (one: StoredTicket) => renderOne(one, renderContext);
  return options.isLarge ? madeWhenRead(stored, make) : stored.map(make);
}

/** Returns `tree` if it has all these tags, otherwise the current tree. */
async function treeWith({ tags }: Context, tree: TagTree, ids: readonly number[]): Promise<TagTree> {
  return ids.every(tree.get) ? tree : tags.tree();
}

/** A list whose items are made from those of another list each time they are read. */
function madeWhenRead<Item, Made>(items: readonly Item[], make: (item: Item) => Made): Made[] {
  const made: Made[] = [];
  for (const [index, item] of items.entries()) {
    Object.defineProperty(made, index, { enumerable: true, get: () => make(item) });
  }
  return made;
}

/** The computed fields of some ticket. Its keys are the names of all computed fields. */
const computedExample = computedFields(newStoredTicket({ ...initialTicket, id: 0 }), {
  caller: serviceCaller('tickets'),
  withRawData: false,
  tree: tagTree([]),
  profiles: new Map(),
  subchannels: undefined,
  isOurs: () => false,
  customerOf: () => undefined,
  intentsOf: () => [],
  now: 0,
});
const renderFull = compileRenderer<Ticket>(TicketSchema);
const renderCompact = compileRenderer<TicketSummary>(TicketSummarySchema);

/**
 * Compiles the function that makes one type of message from a ticket. Each field has its computed value if there is
 * one, else the stored value of the same name. A field of the contract without either is an error at the start of the
 * process.
 */
function compileRenderer<Message>(
  type: DescMessage,
): (stored: StoredTicket, context: RenderContext, body?: string) => Message {
  const make = compileObject<Message>([
    ['$typeName', { constant: type.typeName }],
    ...type.fields.map(({ localName: name }): [string, Source] => {
      if (Object.hasOwn(computedExample, name)) return [name, { input: 'second', name }];
      if (name === 'id') return [name, { input: 'first', name }];
      if (!(name in ticketFields)) throw new Error(`${type.typeName}.${name} is neither stored nor computed`);
      return [name, { input: 'first', name, read: fieldOf(name as TicketFieldName).toMessage }];
    }),
  ]);
  return (stored, context, body) => make(stored.ticket, computedFields(stored, context, body));
}
