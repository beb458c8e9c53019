import type {
  ReplyToTicketRequest,
  ReplyToTicketResponse,
  StoreConversationRequest,
  StoreConversationResponse,
} from '@ticketing/contracts/ticketing/tickets/v1/conversation_service_pb.ts';
import { Direction } from '@ticketing/contracts/ticketing/tickets/v1/enums_pb.ts';
import { invalidInput, notFound, type Violation } from '@ticketing/errors/domain-error.ts';
import type { Runtime } from '@ticketing/runtime/runtime.ts';
import type { Call } from '@ticketing/service-kit/call/call.ts';
import { isHuman } from '@ticketing/service-kit/identity/caller.ts';
import { addressViolations, formatViolations } from '../rules/mail-headers.ts';
import type { ReadSettings } from '../settings.ts';
import { findMailboxViolations } from '../ticket/checks.ts';
import type { WriteCall } from '../ticket/insert.ts';
import type { TicketState } from '../ticket/rules/fields.ts';
import type { Recipients } from '../ticket/rules/reply-recipients.ts';
import { ownAddresses } from '../ticket/rules/subchannels.ts';
import { ticketSubject } from '../ticket/store/document.ts';
import type { TicketStore } from '../ticket/store/store.ts';
import {
  type AddRequestedDeps,
  addRequestedMessage,
  type MessageWithoutText,
  textViolations,
} from './add-requested.ts';
import { intentViolations, sendViolations } from './checks.ts';
import { chooseRecipients, findNamedRecipients, replySubject, withOneReplyPrefix } from './rules/reply.ts';
import { messageSender, sendingFields } from './sender.ts';
import type { MessageViews, ShownReference } from './views.ts';

interface WriteMessageDeps extends AddRequestedDeps {
  tickets: Pick<TicketStore, 'find'>;
  settings: ReadSettings;
  views: MessageViews;
  runtime: Runtime;
}

/**
 * Writes a message to the customer, a draft of one, or a private note.
 *
 * Errors: ticket_not_found; unknown_intent, unknown_subchannel, subchannel_disabled, invalid_format, not_allowed, each with
 * a pointer; no_sender; those of `attachFiles` and `TemplateTexts.text`; too_many_messages; concurrent_change.
 * Source: docs/reference/api.md, Conversations.
 */
export async function replyToTicket(
  deps: WriteMessageDeps,
  call: Call,
  request: ReplyToTicketRequest,
): Promise<ReplyToTicketResponse> {
  const { ticketId, isDraft = false } = request;
  const stored = await deps.tickets.find(ticketId);
  if (!stored) throw notFound('Ticket');
  const violations = [
    ...textViolations(request),
    ...intentViolations(request.intentIds, stored.ticket),
    ...(request.private ? noteViolations(request) : sendViolations(!isDraft, request.send)),
    ...(await findMailboxViolations(deps.settings, stored.ticket.channel, request.subchannelId)),
  ];
  const recipients = request.private
    ? nobody
    : chooseRecipients(stored.ticket, request, ownAddresses(await deps.settings()));
  violations.push(...formatViolations({ channel: stored.ticket.channel, ...recipients }));
  if (violations.length > 0) throw invalidInput(violations);
  const message = await planReply(deps, call, request, { ticket: stored.ticket, recipients });
  call.idempotency?.addSubject(ticketSubject(ticketId));
  const added = await addRequestedMessage(deps, call, stored, { request, message, isDraft });
  return {
    $typeName: 'ticketing.tickets.v1.ReplyToTicketResponse',
    success: true,
    id: added.conversationId,
    conversation: await deps.views.single(call, added, true),
  };
}

const nobody: Recipients = { to: [], cc: [], bcc: [] };

async function planReply(
  deps: WriteMessageDeps,
  call: Call,
  request: ReplyToTicketRequest,
  { ticket, recipients }: { ticket: TicketState; recipients: Recipients },
): Promise<MessageWithoutText> {
  const { isDraft, intentIds, send: isSent = true } = request;
  const subject = request.subject === undefined ? replySubject(ticket) : withOneReplyPrefix(request.subject);
  const subchannels = [request.subchannelId, ticket.subchannelId] as const;
  const sender = await messageSender(deps, call, subchannels);
  if (request.private) {
    const { agentId, authorKey } = sender;
    const subject = request.subject ?? null;
    return { direction: Direction.INTERNAL, private: true, agentId, authorKey, subject, intentIds };
  }
  const { to, cc, bcc } = request;
  const namedRecipients = findNamedRecipients({ to, cc, bcc });
  const sending = { ticket, subchannels, recipients, isNamed: namedRecipients.length > 0, isSent };
  return {
    ...sender,
    ...recipients,
    ...{ direction: Direction.OUT, subject, intentIds, namedRecipients },
    ...(isDraft ? {} : await sendingFields(deps, sending)),
  };
}

/** A note has no recipients, and nothing to publish. */
function noteViolations({ to, cc, bcc, isDraft, subchannelId, send }: ReplyToTicketRequest): Violation[] {
  const given = { to: to.length > 0, cc: cc.length > 0, bcc: bcc.length > 0, isDraft, subchannelId, send };
  return Object.entries(given)
    .filter(([, value]) => value)
    .map(([name]) => ({ pointer: `#/${name}`, code: 'not_allowed', detail: 'is not for a private note' }));
}

/**
 * Records a message that was received or sent elsewhere.
 *
 * Errors: ticket_not_found; too_long, unknown_subchannel, subchannel_disabled, invalid_format, not_allowed, each with a
 * pointer; those of `attachFiles` and `TemplateTexts.text`; too_many_messages; concurrent_change.
 * Source: docs/reference/api.md, Conversations.
 */
export async function storeConversation(
  deps: WriteMessageDeps,
  call: Call,
  request: StoreConversationRequest,
): Promise<StoreConversationResponse> {
  const { ticketId } = request;
  const stored = await deps.tickets.find(ticketId);
  if (!stored) throw notFound('Ticket');
  const violations = recordViolations(request, stored.ticket);
  const known = violations.length === 0 && (await deps.writer.findKnown(request.externalConversationId));
  if (known) return respond(deps, call, known);
  violations.push(...(await findMailboxViolations(deps.settings, stored.ticket.channel, request.subchannelId)));
  if (violations.length > 0) throw invalidInput(violations);
  const message = await planRecord(deps, call, request, stored.ticket);
  call.idempotency?.addSubject(ticketSubject(ticketId));
  const added = await addRequestedMessage(deps, call, stored, { request, message, isDraft: false });
  return respond(deps, call, added);
}

/**
 * The violations in a request to record a message in a ticket, apart from the rules of the contract and the mailbox
 * (`findMailboxViolations`).
 */
export function recordViolations(
  request: StoreConversationRequest,
  ticket: Pick<TicketState, 'channel' | 'intents'>,
): Violation[] {
  const direction = request.direction ?? Direction.IN;
  const { from, to, cc, bcc } = request;
  return [
    ...textViolations(request),
    ...intentViolations(request.intentIds, ticket),
    ...lengthViolations(request, direction),
    ...addressViolations({ channel: ticket.channel, direction, from, to, cc, bcc }),
    ...(request.private && direction !== Direction.INTERNAL
      ? [{ pointer: '#/private', code: 'not_allowed', detail: 'is only for direction internal' }]
      : []),
  ];
}

/** The most bytes of a message that was not received. */
const maxWrittenBytes = 1024 * 1024;

/** Only what customers have sent elsewhere may be longer than a message that is written here. */
function lengthViolations({ content }: StoreConversationRequest, direction: Direction): Violation[] {
  if (direction === Direction.IN || Buffer.byteLength(content?.message ?? '') <= maxWrittenBytes) return [];
  const detail = `is longer than ${maxWrittenBytes} bytes`;
  return [{ pointer: '#/content/message', code: 'too_long', detail }];
}

async function respond(
  deps: WriteMessageDeps,
  call: Call,
  reference: ShownReference,
): Promise<StoreConversationResponse> {
  const { ticketId, conversationId } = reference;
  call.idempotency?.addSubject(ticketSubject(ticketId));
  return {
    $typeName: 'ticketing.tickets.v1.StoreConversationResponse',
    success: true,
    conversationId,
    ticketId,
    conversation: await deps.views.single(call, reference, true),
  };
}

/** The message of a request to record one, without its text and its files. */
export async function planRecord(
  deps: Pick<WriteMessageDeps, 'settings'>,
  call: WriteCall,
  request: StoreConversationRequest,
  ticket: TicketState,
): Promise<MessageWithoutText> {
  const { to, cc, bcc, createdAt, intentIds } = request;
  const direction = request.direction ?? Direction.IN;
  const subchannelId = request.subchannelId ?? ticket.subchannelId;
  const customer = { from: ticket.from, fromName: ticket.fromName, agentId: null, subchannelId };
  const isReceived = direction === Direction.IN;
  const sender = isReceived ? customer : await messageSender(deps, call, [request.subchannelId, ticket.subchannelId]);
  return {
    ...sender,
    ...{ direction, to, cc, bcc, intentIds },
    private: request.private ?? false,
    agentId: direction !== Direction.IN && isHuman(call.caller) ? call.caller.profileId : null,
    subject: request.subject ?? (request.private ? null : replySubject(ticket)),
    externalConversationId: request.externalConversationId ?? null,
    ...(request.from === undefined ? {} : { from: request.from }),
    ...(request.fromName === undefined ? {} : { fromName: request.fromName }),
    ...(createdAt === undefined ? {} : { createdAt: Number(createdAt.seconds) }),
  };
}
