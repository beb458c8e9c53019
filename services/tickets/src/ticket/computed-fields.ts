import type {
  Customer as CustomerMessage,
  CustomerSummary,
} from '@ticketing/contracts/ticketing/tickets/v1/customer_pb.ts';
import { Channel } from '@ticketing/contracts/ticketing/tickets/v1/enums_pb.ts';
import type { TicketIntent, TicketIntentSummary } from '@ticketing/contracts/ticketing/tickets/v1/intent_pb.ts';
import type { Agent } from '@ticketing/contracts/ticketing/tickets/v1/ticket_pb.ts';
import type { AttachmentState } from '@ticketing/files/attachment.ts';
import { attachmentMessages } from '@ticketing/files/attachment-message.ts';
import type { Caller } from '@ticketing/service-kit/identity/caller.ts';
import type { Profile } from '@ticketing/store/cache/profile-store.ts';
import { legitimationMessage } from '../customer/rules/legitimation.ts';
import type { TagTree } from '../tag/rules.ts';
import { tagMessages } from '../tag/to-proto.ts';
import { ticketFields } from './rules/fields.ts';
import { activeWithinSeconds } from './rules/keys.ts';
import { replyRecipients } from './rules/reply-recipients.ts';
import { type Subchannels, shownInterface, shownSubchannelId } from './rules/subchannels.ts';
import { hasRequiredSkills, workingIds } from './rules/worked-on.ts';
import type { StoredTicket } from './store/document.ts';

/** The context in which the message of a ticket is made. Units: `now` in Unix seconds. */
export interface RenderContext {
  caller: Caller;
  withRawData: boolean;
  tree: TagTree;
  profiles: ReadonlyMap<number, Profile>;
  subchannels: Subchannels;
  /** Whether mails to an address come back into this system. */
  isOurs(address: string): boolean;
  /** The customer of a ticket, in the form of the message. */
  showCustomer(ticket: StoredTicket['ticket']): CustomerMessage | CustomerSummary | undefined;
  /** The intents of a ticket, in the form of the message. */
  showIntents(ticket: StoredTicket['ticket']): TicketIntent[] | TicketIntentSummary[];
  now: number;
}

export const computedFieldNames = [
  'ccEmails',
  'bccEmails',
  'replyRecipients',
  'isCustomerActive',
  'body',
  'subchannelId',
  'interface',
  'customer',
  'attachments',
  'template',
  'tags',
  'tagIds',
  'intents',
  'rawData',
  'customerLegitimationMessage',
  'lastResponseAuthor',
  'agent',
  'agentIds',
  'agents',
  'workedOnByIds',
  'workedOnBy',
  'hasRequiredSkills',
] as const;

type Computed = Record<(typeof computedFieldNames)[number], unknown>;

/**
 * The fields of a ticket's message that are not copied from a stored field. An undefined field is left out. `body` is the
 * body as clients may show it.
 */
export function computedFields({ ticket, workedOn }: StoredTicket, context: RenderContext, body?: string) {
  const { tree, profiles, now } = context;
  const agent = ticket.agentId === null ? undefined : agentMessage(ticket.agentId, profiles);
  const recipients = replyRecipients(ticket, context.isOurs);
  const workedOnByIds = workingIds(workedOn, now);
  return {
    ccEmails: recipients?.cc ?? [],
    bccEmails: recipients?.bcc ?? [],
    replyRecipients: recipients ? { $typeName: 'ticketing.tickets.v1.ReplyRecipients', ...recipients } : undefined,
    isCustomerActive:
      ticket.channel === Channel.CHAT && (ticket.lastCustomerMessageAt ?? 0) > now - activeWithinSeconds,
    body,
    subchannelId: shownSubchannelId(ticket, context.subchannels) ?? undefined,
    interface: shownInterface(ticket, context.subchannels),
    customer: context.showCustomer(ticket),
    attachments: attachmentMessages(`/ticket/${ticket.id}`, shownAttachments(ticket.attachments)),
    template: undefined,
    tags: tagMessages(ticket.tagIds, tree),
    // A deleted tag stays on the ticket until the cleanup has removed it.
    tagIds: ticket.tagIds.filter(tree.get),
    intents: context.showIntents(ticket),
    rawData: context.withRawData ? ticketFields.rawData.toMessage(ticket.rawData) : undefined,
    customerLegitimationMessage: legitimationMessage(ticket.customerLegitimation),
    lastResponseAuthor:
      ticket.lastResponseAuthorId === null ? undefined : agentMessage(ticket.lastResponseAuthorId, profiles),
    agent,
    agentIds: ticket.agentId === null ? [] : [ticket.agentId],
    agents: agent ? [agent] : [],
    workedOnByIds,
    workedOnBy: workedOnByIds.map((id) => agentMessage(id, profiles)),
    hasRequiredSkills: hasRequiredSkills(ticket, context.caller, tree.isRoutingSkill),
  } satisfies Computed;
}

/** The profiles whose names the message of a ticket contains. Units: `now` in Unix seconds. */
export function profileIds({ ticket, workedOn }: StoredTicket, now: number): number[] {
  const ids = workingIds(workedOn, now);
  if (ticket.agentId !== null) ids.push(ticket.agentId);
  if (ticket.lastResponseAuthorId !== null) ids.push(ticket.lastResponseAuthorId);
  return ids;
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

/** The attachments that a ticket shows: those that are not inside its text, and PDF files. */
export function shownAttachments(attachments: readonly AttachmentState[]): AttachmentState[] {
  return attachments.filter(({ inline, contentType }) => !inline || contentType === 'application/pdf');
}
