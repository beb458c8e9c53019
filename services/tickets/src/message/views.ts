import {
  ContentType,
  type Conversation,
  type ConversationSender,
  DeliveryStatus,
  type DeliveryError as ShownError,
} from '@ticketing/contracts/ticketing/tickets/v1/conversation_pb.ts';
import { Direction } from '@ticketing/contracts/ticketing/tickets/v1/enums_pb.ts';
import { notFound } from '@ticketing/errors/domain-error.ts';
import { attachmentMessages } from '@ticketing/files/attachment-message.ts';
import { toTimestamp } from '@ticketing/rest/codec/date-time.ts';
import type { Call } from '@ticketing/service-kit/call/call.ts';
import { type Caller, callerKey } from '@ticketing/service-kit/identity/caller.ts';
import type { Profile, ProfileStore } from '@ticketing/store/cache/profile-store.ts';
import type { PageBudget } from '@ticketing/store/paging/page-budget.ts';
import { withoutNulls } from '../customer/rules/customer.ts';
import { type ReadSettings, settingsKnowing } from '../settings.ts';
import { shownBody, type TextOptions, withCurrentTexts } from '../text/shown-body.ts';
import type { TextWork } from '../text/work.ts';
import type { TicketState } from '../ticket/rules/fields.ts';
import { shownSubchannelId } from '../ticket/rules/subchannels.ts';
import type { TicketStore } from '../ticket/store/store.ts';
import { ticketWithCurrentTexts } from '../ticket/views.ts';
import { findConversation } from './checks.ts';
import type { MessageReference } from './external-id-store.ts';
import type { DeliveryError } from './rules/delivery-report.ts';
import { type ConversationState, initialConversation, messageBytes } from './rules/fields.ts';
import type { ConversationStore } from './store.ts';

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
    notSentReason: ticket.openingNotSent,
    createdAt: ticket.createdAt,
    modifiedAt: ticket.createdAt,
  };
}

/** The id of the message that a response shows, and the message itself if it is at hand. */
export interface ShownReference extends MessageReference {
  shown?: ShownConversation | undefined;
}

/** Shows messages of tickets, in the form of the contract. */
export interface MessageViews {
  /**
   * Shows messages. `isAfterWrite`: texts that cannot be made then cause no error.
   *
   * Errors: sandbox_busy, sandbox_crashed, if texts of long bodies have to be made again.
   */
  list(shown: readonly ShownConversation[], options: TextOptions): Promise<Conversation[]>;
  /**
   * Shows the only message of a response, which is read unless it is at hand. A large one counts as a page until the
   * response has been sent.
   *
   * Errors: as of `findConversation` and `list`; too_much_at_once, unless `isAfterWrite`.
   */
  single(call: Call, reference: ShownReference, isAfterWrite?: boolean): Promise<Conversation>;
  /**
   * Reads the first message of a ticket, with current texts.
   *
   * Errors: ticket_not_found; sandbox_busy, sandbox_crashed, if texts of a long body have to be made again.
   */
  readOpening(caller: Caller, ticketId: number): Promise<ShownConversation>;
}

interface MessageViewDeps {
  tickets: TicketStore;
  conversations: ConversationStore;
  profiles: ProfileStore;
  settings: ReadSettings;
  textWork: TextWork;
  pages: PageBudget;
}

export function messageViews(deps: MessageViewDeps): MessageViews {
  const list: MessageViews['list'] = (shown, options) => showMessages(deps, shown, options);
  const readOpening: MessageViews['readOpening'] = async (caller, ticketId) => {
    const stored = await deps.tickets.find(ticketId);
    if (!stored) throw notFound('Ticket');
    const { ticket } = await ticketWithCurrentTexts(deps, stored, { caller });
    return { conversation: openingMessage(ticket), isDraft: false };
  };
  const read = async (caller: Caller, reference: MessageReference): Promise<ShownConversation> => {
    const { stored, isDraft } = await findConversation(deps, reference);
    return stored ? { conversation: stored.conversation, isDraft } : readOpening(caller, reference.ticketId);
  };
  return {
    list,
    readOpening,
    async single(call, reference, isAfterWrite = false) {
      const shown = reference.shown ?? (await read(call.caller, reference));
      const taken = deps.pages.take(callerKey(call.caller), messageBytes(shown.conversation), call);
      await (isAfterWrite
        ? taken.catch((error: unknown) => call.log.warn({ err: error }, 'a large response to a write is not counted'))
        : taken);
      const [message] = await list([shown], { caller: call.caller, isAfterWrite });
      if (!message) throw new Error('there is no message for the conversation');
      return message;
    },
  };
}

async function showMessages(
  { conversations, profiles: profileStore, settings, textWork }: MessageViewDeps,
  shown: readonly ShownConversation[],
  options: TextOptions,
): Promise<Conversation[]> {
  const authorIds = shown.flatMap(({ conversation }) => conversation.agentId ?? []);
  const subchannelIds = shown.map(({ conversation }) => conversation.subchannelId);
  const [profiles, { subchannels }] = await Promise.all([
    profileStore.find(authorIds),
    settingsKnowing(settings, subchannelIds),
  ]);
  const messages: Conversation[] = [];
  for (const { conversation, isDraft } of shown) {
    const textOptions = { ...options, isText: conversation.type === ContentType.TEXT };
    const current = await withCurrentTexts(textWork, conversation, textOptions, conversations.setDerived);
    const body = await shownBody(current, current.ticketId);
    const subchannelId = shownSubchannelId(current, subchannels);
    messages.push(toProto({ ...current, subchannelId }, isDraft, body, profiles));
  }
  return messages;
}

function toProto(
  { deliveryStatus, notSentReason, deliveryError, createdAt, modifiedAt, ...conversation }: ConversationState,
  isDraft: boolean,
  body: string | undefined,
  profiles: ReadonlyMap<number, Profile>,
): Conversation {
  const { id, ticketId, type, direction, from, fromName, to, cc, bcc, subject, bodyPlain, bodyClean } = conversation;
  const { agentId, subchannelId, externalConversationId, modifiedBy, publishedBy } = conversation;
  return {
    $typeName: 'ticketing.tickets.v1.Conversation',
    ...{ id, ticketId, type, direction, private: conversation.private, isDraft },
    ...{ to: [...to], cc: [...cc], bcc: [...bcc] },
    ...withoutNulls({ from, fromName, subject, body: body ?? null, bodyPlain, bodyClean, agentId, subchannelId }),
    ...withoutNulls({ externalConversationId, modifiedBy, publishedBy }),
    sender: toSender(conversation, profiles),
    intentIds: [...conversation.intentIds],
    attachments: attachmentMessages(`/ticket/${ticketId}`, conversation.attachments),
    // A draft whose publishing was interrupted is not sent.
    deliveryStatus: isDraft ? DeliveryStatus.NONE : deliveryStatus,
    ...(isDraft || notSentReason === null ? {} : { notSentReason }),
    ...(isDraft || deliveryError === null ? {} : { deliveryError: toDeliveryError(deliveryError) }),
    ...(createdAt === null ? {} : { createdAt: toTimestamp(createdAt) }),
    ...(modifiedAt === null ? {} : { modifiedAt: toTimestamp(modifiedAt) }),
  };
}

function toDeliveryError({ code, text, at, recipient }: DeliveryError): ShownError {
  const shown = { text, at: toTimestamp(at), ...withoutNulls({ code, recipient }) };
  return { $typeName: 'ticketing.tickets.v1.DeliveryError', ...shown };
}

function toSender(
  { agentId, from, fromName }: Pick<ConversationState, 'agentId' | 'from' | 'fromName'>,
  profiles: ReadonlyMap<number, Profile>,
): ConversationSender {
  const profile = agentId === null ? undefined : profiles.get(agentId);
  const names = [profile?.firstName, profile?.lastName].filter((name) => name !== undefined && name !== null);
  const name = agentId === null ? fromName : names.join(' ') || null;
  const email = agentId === null ? from : (profile?.email ?? null);
  return { $typeName: 'ticketing.tickets.v1.ConversationSender', ...withoutNulls({ id: agentId, name, email }) };
}
