import {
  ContentType,
  type Conversation,
  type ConversationSender,
  DeliveryStatus,
} from '@ticketing/contracts/ticketing/tickets/v1/conversation_pb.ts';
import { Direction } from '@ticketing/contracts/ticketing/tickets/v1/enums_pb.ts';
import { notFound } from '@ticketing/errors/domain-error.ts';
import { attachmentMessages } from '@ticketing/files/attachment-message.ts';
import { timestampOf } from '@ticketing/rest/codec/date-time.ts';
import type { Call } from '@ticketing/service-kit/call/call.ts';
import { type Caller, callerKey } from '@ticketing/service-kit/identity/caller.ts';
import type { Profile } from '@ticketing/store/cache/profile-store.ts';
import type { Context } from '../context.ts';
import { settingsKnowing } from '../settings-knowing.ts';
import type { TicketState } from '../ticket/rules/fields.ts';
import { shownSubchannelId } from '../ticket/rules/subchannels.ts';
import type { MessageReference } from './external-id-store.ts';
import { findConversation } from './find.ts';
import { type ConversationState, initialConversation, messageBytes } from './rules/fields.ts';
import { messageWithCurrentTexts, shownBody, withCurrentTexts } from './text/shown-body.ts';

/** A message of a ticket, and whether it is a draft. */
export interface ShownConversation {
  conversation: ConversationState;
  isDraft: boolean;
}

/** The first message of a ticket: its body. */
export function openingMessage(ticket: TicketState): ConversationState {
  const { from, fromName, to, cc, bcc, subject, body, bodyHtml, bodyPlain, bodyClean, bodyRules, attachments } = ticket;
  return {
    ...initialConversation,
    ...{ from, fromName, to, cc, bcc, subject, body, bodyHtml, bodyPlain, bodyClean, bodyRules, attachments },
    id: ticket.openingMessageId ?? 0,
    ticketId: ticket.id,
    type: bodyHtml === null ? ContentType.TEXT : ContentType.HTML,
    direction: ticket.direction,
    agentId: ticket.direction === Direction.IN ? null : ticket.createdBy,
    subchannelId: ticket.subchannelId,
    createdAt: ticket.createdAt,
    modifiedAt: ticket.createdAt,
  };
}

/**
 * Reads the first message of a ticket, with current texts.
 *
 * Errors: ticket_not_found; sandbox_busy, sandbox_crashed, if texts of a long body have to be made again.
 */
export async function readOpeningMessage(
  context: Context,
  caller: Caller,
  ticketId: number,
): Promise<ShownConversation> {
  const stored = await context.tickets.find(ticketId);
  if (!stored) throw notFound('Ticket');
  const { ticket } = await withCurrentTexts(context, stored, { caller });
  return { conversation: openingMessage(ticket), isDraft: false };
}

/**
 * Makes the messages of a response. `isAfterWrite`: texts that cannot be made then cause no error.
 *
 * Errors: sandbox_busy, sandbox_crashed, if texts of long bodies have to be made again.
 */
export async function conversationMessages(
  context: Context,
  shown: readonly ShownConversation[],
  options: { caller: Caller; isAfterWrite?: boolean },
): Promise<Conversation[]> {
  const authorIds = shown.flatMap(({ conversation }) => conversation.agentId ?? []);
  const subchannelIds = shown.map(({ conversation }) => conversation.subchannelId);
  const [profiles, { subchannels }] = await Promise.all([
    context.profiles.find(authorIds),
    settingsKnowing(context, subchannelIds),
  ]);
  const messages: Conversation[] = [];
  for (const { conversation, isDraft } of shown) {
    const current = await messageWithCurrentTexts(context, conversation, options);
    const body = await shownBody(current);
    const subchannelId = shownSubchannelId(current, subchannels);
    messages.push(messageOf({ ...current, subchannelId }, isDraft, body, profiles));
  }
  return messages;
}

/** The id of the message that a response shows, and the message itself if it is at hand. */
export interface ShownReference extends MessageReference {
  shown?: ShownConversation | undefined;
}

/**
 * Makes the message for the only one of a response, which is read unless it is at hand. A large one counts as a page until
 * the response has been sent.
 *
 * Errors: as of `findConversation` and `conversationMessages`; too_much_at_once, unless `isAfterWrite`.
 */
export async function singleConversation(
  context: Context,
  call: Call,
  reference: ShownReference,
  isAfterWrite = false,
): Promise<Conversation> {
  const shown = reference.shown ?? (await readConversation(context, call.caller, reference));
  const taken = context.pages.take(callerKey(call.caller), messageBytes(shown.conversation), call);
  await (isAfterWrite
    ? taken.catch((error: unknown) => call.log.warn({ err: error }, 'a large response to a write is not counted'))
    : taken);
  const [message] = await conversationMessages(context, [shown], { caller: call.caller, isAfterWrite });
  if (!message) throw new Error('there is no message for the conversation');
  return message;
}

async function readConversation(
  context: Context,
  caller: Caller,
  reference: MessageReference,
): Promise<ShownConversation> {
  const { stored, isDraft } = await findConversation(context, reference);
  if (stored) return { conversation: stored.conversation, isDraft };
  return readOpeningMessage(context, caller, reference.ticketId);
}

function messageOf(
  { deliveryStatus, createdAt, modifiedAt, ...conversation }: ConversationState,
  isDraft: boolean,
  body: string | undefined,
  profiles: ReadonlyMap<number, Profile>,
): Conversation {
  return {
    $typeName: 'ticketing.tickets.v1.Conversation',
    id: conversation.id,
    ticketId: conversation.ticketId,
    type: conversation.type,
    direction: conversation.direction,
    private: conversation.private,
    isDraft,
    to: [...conversation.to],
    cc: [...conversation.cc],
    bcc: [...conversation.bcc],
    ...given({
      from: conversation.from,
      fromName: conversation.fromName,
      subject: conversation.subject,
      body: body ?? null,
      bodyPlain: conversation.bodyPlain,
      bodyClean: conversation.bodyClean,
      agentId: conversation.agentId,
      subchannelId: conversation.subchannelId,
      externalConversationId: conversation.externalConversationId,
      modifiedBy: conversation.modifiedBy,
      publishedBy: conversation.publishedBy,
    }),
    sender: senderOf(conversation, profiles),
    intentIds: [...conversation.intentIds],
    attachments: attachmentMessages(`/ticket/${conversation.ticketId}`, conversation.attachments),
    // A draft whose publishing was interrupted is not sent.
    deliveryStatus: isDraft ? DeliveryStatus.NONE : deliveryStatus,
    ...(createdAt === null ? {} : { createdAt: timestampOf(createdAt) }),
    ...(modifiedAt === null ? {} : { modifiedAt: timestampOf(modifiedAt) }),
  };
}

function senderOf(
  { agentId, from, fromName }: Pick<ConversationState, 'agentId' | 'from' | 'fromName'>,
  profiles: ReadonlyMap<number, Profile>,
): ConversationSender {
  const profile = agentId === null ? undefined : profiles.get(agentId);
  const names = [profile?.firstName, profile?.lastName].filter((name) => name !== undefined && name !== null);
  const name = agentId === null ? fromName : names.join(' ') || null;
  const email = agentId === null ? from : (profile?.email ?? null);
  return { $typeName: 'ticketing.tickets.v1.ConversationSender', ...given({ id: agentId, name, email }) };
}

type Given<Values> = { [Name in keyof Values]?: NonNullable<Values[Name]> };

/** Leaves out null values: the contract writes an unset field as an absent one. */
function given<Values extends object>(values: Values): Given<Values> {
  return Object.fromEntries(Object.entries(values).filter(([, value]) => value !== null)) as Given<Values>;
}
