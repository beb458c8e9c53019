import type { DescMessage } from '@bufbuild/protobuf';
import { Channel } from '@ticketing/contracts/ticketing/tickets/v1/enums_pb.ts';
import {
  type Agent,
  type Ticket,
  TicketSchema,
  type TicketSummary,
  TicketSummarySchema,
} from '@ticketing/contracts/ticketing/tickets/v1/ticket_pb.ts';
import { type Caller, serviceCaller } from '@ticketing/service-kit/identity/caller.ts';
import { compileObject, type Source } from '@ticketing/store/compiled-object.ts';
import type { Profile } from '@ticketing/store/profile-store.ts';
import { replyRecipients } from '../domain/reply-recipients.ts';
import { sanitiseHtml } from '../domain/sanitise-html.ts';
import { hasRequiredSkills } from '../domain/skills.ts';
import { type TagTree, tagTree } from '../domain/tag-tree.ts';
import { fieldOf, initialTicket, type TicketFieldName, ticketFields } from '../domain/ticket-fields.ts';
import type { StoredTicket } from '../store/ticket-store.ts';
import { workedOnWithinSeconds } from './change-ticket.ts';
import type { Context } from './context.ts';
import { tagMessages } from './tag-message.ts';

/** How a ticket is answered. */
export interface RenderOptions {
  caller: Caller;
  withRawData: boolean;
  /**
   * The tags since the request began, read anew for a ticket with a tag that they lack. They are read before the tickets
   * or with them: to wait for them afterwards would keep the tickets of many requests in memory.
   */
  tree: TagTree;
}

const activeWithinSeconds = 300;

/** Answers tickets in full form. */
export function fullTickets(context: Context, stored: readonly StoredTicket[], form: RenderOptions): Promise<Ticket[]> {
  return write(context, stored, form, writeFull);
}

/** Answers a ticket in full form. Source: specification, Ticket; decisions.md section 5. */
export async function fullTicket(context: Context, stored: StoredTicket, form: RenderOptions): Promise<Ticket> {
  const [ticket] = await fullTickets(context, [stored], form);
  if (!ticket) throw new Error('a ticket was lost on its way');
  return ticket;
}

/** Answers tickets in compact form. */
export function compactTickets(
  context: Context,
  stored: readonly StoredTicket[],
  form: RenderOptions,
): Promise<TicketSummary[]> {
  return write(context, stored, form, writeCompact);
}

async function write<Message>(
  context: Context,
  stored: readonly StoredTicket[],
  form: RenderOptions,
  writer: (stored: StoredTicket, surroundings: RenderContext) => Message,
): Promise<Message[]> {
  const now = context.now();
  const isKnown = (id: number) => form.tree.get(id) !== undefined;
  const tree = stored.every(({ ticket }) => ticket.tagIds.every(isKnown)) ? form.tree : await context.tags.tree();
  const profiles = await context.profiles.find(stored.flatMap((one) => profileIds(one, now)));
  const around = { ...form, tree, profiles, now };
  return stored.map((one) => writer(one, around));
}

interface RenderContext extends RenderOptions {
  profiles: ReadonlyMap<number, Profile>;
  now: number;
}

function profileIds({ ticket, workedOn }: StoredTicket, now: number): number[] {
  const ids = workingOn(workedOn, now);
  if (ticket.agentId !== null) ids.push(ticket.agentId);
  if (ticket.lastResponseAuthorId !== null) ids.push(ticket.lastResponseAuthorId);
  return ids;
}

function workingOn(workedOn: StoredTicket['workedOn'], now: number): number[] {
  return workedOn.filter(({ at }) => at > now - workedOnWithinSeconds).map(({ profileId }) => profileId);
}

/** What a ticket answers beyond the fields that are kept, and instead of them. Undefined is unset. */
function computed({ ticket, workedOn }: StoredTicket, around: RenderContext) {
  const agent = ticket.agentId === null ? undefined : agentMessage(ticket.agentId, around.profiles);
  const recipients = replyRecipients(ticket);
  const workingIds = workingOn(workedOn, around.now);
  const hasWeakLegitimation = ticket.customerLegitimation >= 10 && ticket.customerLegitimation <= 19;
  return {
    ccEmails: recipients?.cc ?? [],
    bccEmails: recipients?.bcc ?? [],
    replyRecipients: recipients ? { $typeName: 'ticketing.tickets.v1.ReplyRecipients', ...recipients } : undefined,
    isCustomerActive:
      ticket.channel === Channel.CHAT && (ticket.lastCustomerMessageAt ?? 0) > around.now - activeWithinSeconds,
    body: ticket.body === null ? undefined : sanitiseHtml(ticket.body),
    customer: undefined,
    attachments: [],
    template: undefined,
    tags: tagMessages(ticket.tagIds, around.tree),
    // A tag that is being deleted is on the ticket for a moment yet.
    tagIds: ticket.tagIds.filter(around.tree.get),
    intents: [],
    rawData: around.withRawData ? ticketFields.rawData.toMessage(ticket.rawData) : undefined,
    customerLegitimationMessage: hasWeakLegitimation ? (ticket.customerLegitimationMessage ?? undefined) : undefined,
    lastResponseAuthor:
      ticket.lastResponseAuthorId === null ? undefined : agentMessage(ticket.lastResponseAuthorId, around.profiles),
    agent,
    agentIds: ticket.agentId === null ? [] : [ticket.agentId],
    agents: agent ? [agent] : [],
    workedOnByIds: workingIds,
    workedOnBy: workingIds.map((id) => agentMessage(id, around.profiles)),
    hasRequiredSkills: hasRequiredSkills(ticket, around.caller, around.tree.isRoutingSkill),
  };
}

function agentMessage(id: number, profiles: ReadonlyMap<number, Profile>): Agent {
  const profile = profiles.get(id);
  return {
    $typeName: 'ticketing.tickets.v1.Agent',
    id,
    ...(profile?.firstName ? { firstName: profile.firstName } : {}),
    ...(profile?.lastName ? { lastName: profile.lastName } : {}),
    ...(profile?.email ? { email: profile.email } : {}),
  };
}

/** Shows which fields are computed. */
const sample = computed(
  { ticket: { ...initialTicket, id: 0 }, workedOn: [], appliedRequests: [], reservedBy: null, manualWorkEntries: 0 },
  { caller: serviceCaller('tickets'), withRawData: false, tree: tagTree([]), profiles: new Map(), now: 0 },
);
const writeFull = compile<Ticket>(TicketSchema);
const writeCompact = compile<TicketSummary>(TicketSummarySchema);

/**
 * Compiles the writer of a form: what is computed wins, all else is kept under its name in the contract. A field of the
 * contract that is neither fails while compiling.
 */
function compile<Message>(form: DescMessage): (stored: StoredTicket, around: RenderContext) => Message {
  const write = compileObject<Message>([
    ['$typeName', { constant: form.typeName }],
    ...form.fields.map(({ localName: name }): [string, Source] => {
      if (Object.hasOwn(sample, name)) return [name, { input: 'second', name }];
      if (name === 'id') return [name, { input: 'first', name }];
      if (!(name in ticketFields)) throw new Error(`${form.typeName}.${name} is neither kept nor computed`);
      return [name, { input: 'first', name, read: fieldOf(name as TicketFieldName).toMessage }];
    }),
  ]);
  return (stored, around) => write(stored.ticket, computed(stored, around));
}
