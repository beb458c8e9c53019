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
import { type Runtime, secondsNow } from '@ticketing/runtime/runtime.ts';
import type { Call } from '@ticketing/service-kit/call/call.ts';
import { type Caller, callerKey } from '@ticketing/service-kit/identity/caller.ts';
import type { ProfileStore } from '@ticketing/store/cache/profile-store.ts';
import { compileObject, type Source } from '@ticketing/store/document/compile-object.ts';
import type { PageBudget } from '@ticketing/store/paging/page-budget.ts';
import type { ErpResponse } from '../customer/directory.ts';
import { type Customer, toCustomerCopy } from '../customer/rules/customer.ts';
import { customerMessage, customerSummary } from '../customer/search.ts';
import { type ReadSettings, settingsKnowing } from '../settings.ts';
import type { TagTree } from '../tag/rules.ts';
import type { TagStore } from '../tag/store.ts';
import { shownBody, withCurrentTexts } from '../text/shown-body.ts';
import type { TextWork } from '../text/work.ts';
import { computedFieldNames, computedFields, profileIds, type RenderContext } from './computed-fields.ts';
import type { ReadCustomer } from './refresh-customer.ts';
import { type TicketFieldName, ticketField, ticketFields } from './rules/fields.ts';
import { ownAddresses } from './rules/subchannels.ts';
import type { StoredTicket } from './store/document.ts';
import type { TicketStore } from './store/store.ts';
import { intentMessages, intentSummaries } from './to-proto.ts';

/** The options for rendering tickets as messages of the contract. */
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

/** The caller that reads a ticket, and the hooks of the response, which release its bytes. */
export type ReadCall = Pick<Call, 'caller' | 'signal' | 'onEncoded' | 'onEnd' | 'endResponse'>;

/** Options of the only ticket of a response. */
type SingleOptions = Pick<RenderOptions, 'withRawData' | 'tree'>;

/**
 * Shows tickets, as messages of the contract.
 *
 * Source: docs/reference/api.md, Forms of a ticket; docs/reference/api.md, Ticket fields.
 */
export interface TicketViews {
  /**
   * Shows a ticket in full form, with its customer if that was read.
   *
   * Errors: sandbox_busy, sandbox_crashed, if texts of a long body have to be made again; those of the read.
   */
  full(stored: StoredTicket, options: FullOptions): Promise<Ticket>;
  /** Shows tickets in compact form. */
  compact(stored: readonly StoredTicket[], options: RenderOptions): Promise<TicketSummary[]>;
  /**
   * Shows the only ticket of a response. A large one counts as a page until the response has been sent.
   *
   * Errors: those of `full`; too_much_at_once.
   */
  read(
    call: ReadCall,
    stored: StoredTicket,
    options: SingleOptions & { erp?: Parameters<ReadCustomer>[1] },
  ): Promise<Ticket>;
  /**
   * Does the same for the response to a write, which has happened: if the bytes are not free in time, the response is made
   * nevertheless, and if texts cannot be made, without them.
   */
  written(call: Call, stored: StoredTicket, options: SingleOptions): Promise<Ticket>;
}

type FullOptions = RenderOptions & { customer?: Promise<ErpResponse<Customer>> };

interface ViewDeps {
  tickets: Pick<TicketStore, 'setBodyFields'>;
  tags: Pick<TagStore, 'tree'>;
  profiles: Pick<ProfileStore, 'find'>;
  settings: ReadSettings;
  textWork: TextWork;
  readCustomer: ReadCustomer;
  pages: PageBudget;
  runtime: Runtime;
}

export function ticketViews(deps: ViewDeps): TicketViews {
  return {
    full: (stored, options) => fullTicket(deps, stored, options),
    compact: (stored, options) => compactTickets(deps, stored, options),
    async read(call, stored, options) {
      const customer = deps.readCustomer(stored.ticket, options.erp);
      // It may fail before it is awaited.
      customer.catch(() => undefined);
      await takeBytes(deps.pages, call, stored, options);
      return fullTicket(deps, stored, { ...options, caller: call.caller, customer });
    },
    async written(call, stored, options) {
      await takeBytes(deps.pages, call, stored, options).catch((error: unknown) => {
        call.log.warn({ err: error }, 'a large response to a write is not counted');
      });
      const customer = deps.readCustomer(stored.ticket).catch((error: unknown) => {
        call.log.warn({ err: error }, 'a response to a write is without its customer');
        return undefined;
      });
      return fullTicket(deps, stored, { ...options, caller: call.caller, customer, isAfterWrite: true });
    },
  };
}

function takeBytes(
  pages: PageBudget,
  call: ReadCall,
  { ticket }: StoredTicket,
  { withRawData }: SingleOptions,
): Promise<void> {
  const { body, bodyHtml, bodyPlain, bodyClean, clientData, workitem, rawData } = ticket;
  const texts = [bodyHtml ?? body, bodyPlain, bodyClean, clientData, workitem, withRawData ? rawData : null];
  const bytes = texts.reduce((sum, text) => sum + (text?.length ?? 0), 0);
  return pages.take(callerKey(call.caller), bytes, call);
}

/** Returns a ticket with current texts of its body. Errors: those of `withCurrentTexts`. */
export async function ticketWithCurrentTexts(
  { textWork, tickets }: Pick<ViewDeps, 'textWork' | 'tickets'>,
  stored: StoredTicket,
  options: Pick<RenderOptions, 'caller' | 'isAfterWrite'>,
): Promise<StoredTicket> {
  const textOptions = { ...options, isText: stored.ticket.isBodyText };
  const ticket = await withCurrentTexts(textWork, stored.ticket, textOptions, (current) =>
    tickets.setBodyFields(current, options.caller),
  );
  return ticket === stored.ticket ? stored : { ...stored, ticket };
}

async function fullTicket(deps: ViewDeps, stored: StoredTicket, options: FullOptions): Promise<Ticket> {
  const current = await ticketWithCurrentTexts(deps, stored, options);
  const [body, customer] = await Promise.all([shownBody(current.ticket, current.ticket.id), options.customer]);
  const shown =
    customer === undefined ? current : { ...current, ticket: { ...current.ticket, ...toCustomerCopy(customer) } };
  const showCustomer: ShowCustomer = (one, tree) => (customer ? customerMessage(customer, tree, one) : undefined);
  const showIntents: ShowIntents = ({ id, intents }) => intentMessages(id, intents, stored.deliveries);
  const tree = await treeWith(deps, options.tree, customer?.tagIds ?? []);
  const parts = { showCustomer, showIntents };
  const [ticket] = await render(deps, [shown], { ...options, tree }, parts, (one, renderContext) =>
    renderFull(one, renderContext, body),
  );
  if (!ticket) throw new Error('there is no message for the ticket');
  return ticket;
}

async function compactTickets(
  deps: ViewDeps,
  stored: readonly StoredTicket[],
  options: RenderOptions,
): Promise<TicketSummary[]> {
  const customerTagIds = stored.flatMap(({ ticket }) => ticket.customerTagIds);
  const tree = await treeWith(deps, options.tree, customerTagIds);
  const parts = {
    showCustomer: customerSummary,
    showIntents: ({ intents }: StoredTicket['ticket']) => intentSummaries(intents),
  };
  return render(deps, stored, { ...options, tree }, parts, (one, renderContext) => renderCompact(one, renderContext));
}

type ShowCustomer = (ticket: StoredTicket['ticket'], tree: TagTree) => CustomerMessage | CustomerSummary | undefined;

type ShowIntents = RenderContext['showIntents'];

async function render<Message>(
  deps: ViewDeps,
  stored: readonly StoredTicket[],
  options: RenderOptions,
  { showCustomer, showIntents }: { showCustomer: ShowCustomer; showIntents: ShowIntents },
  renderOne: (stored: StoredTicket, context: RenderContext) => Message,
): Promise<Message[]> {
  const now = secondsNow(deps.runtime);
  const tagIds = stored.flatMap(({ ticket }) => ticket.tagIds);
  const tree = await treeWith(deps, options.tree, tagIds);
  const profiles = await deps.profiles.find(stored.flatMap((one) => profileIds(one, now)));
  const settings = await settingsKnowing(
    deps.settings,
    stored.map(({ ticket }) => ticket.subchannelId),
  );
  const renderContext: RenderContext = {
    ...options,
    tree,
    profiles,
    subchannels: settings.subchannels,
    isOurs: ownAddresses(settings),
    showCustomer: (ticket) => showCustomer(ticket, tree),
    showIntents,
    now,
  };
  const make = (one: StoredTicket) => renderOne(one, renderContext);
  return options.isLarge ? madeWhenRead(stored, make) : stored.map(make);
}

/** Returns `tree` if it has all these tags, otherwise the current tree. */
async function treeWith({ tags }: ViewDeps, tree: TagTree, ids: readonly number[]): Promise<TagTree> {
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
      if ((computedFieldNames as readonly string[]).includes(name)) return [name, { input: 'second', name }];
      if (name === 'id') return [name, { input: 'first', name }];
      if (!(name in ticketFields)) throw new Error(`${type.typeName}.${name} is neither stored nor computed`);
      return [name, { input: 'first', name, read: ticketField(name as TicketFieldName).toMessage }];
    }),
  ]);
  return (stored, context, body) => make(stored.ticket, computedFields(stored, context, body));
}
