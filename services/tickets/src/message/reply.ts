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
import { addressViolations } from '../rules/mail-headers.ts';
import type { ReadSettings } from '../settings.ts';
import { findMailboxViolations } from '../ticket/checks.ts';
import type { TicketState } from '../ticket/rules/fields.ts';
import { ownAddresses } from '../ticket/rules/subchannels.ts';
import { ticketSubject } from '../ticket/store/document.ts';
import type { TicketStore } from '../ticket/store/store.ts';
import {
  type AddRequestedDeps,
  addRequestedMessage,
  type MessageWithoutText,
  textViolations,
} from './add-requested.ts';
import { intentViolations } from './checks.ts';
import { chooseRecipients, recipientViolations, replySubject, withOneReplyPrefix } from './rules/reply.ts';
import { mailFields, messageSender } from './sender.ts';
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
 * Errors: ticket_not_found; unknown_intent, unknown_subchannel, subchannel_disabled, invalid_format, not_allowed, no_recipient, each with
 * a pointer; those of `attachFiles` and `TemplateTexts.text`; too_many_messages; concurrent_change.
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
    ...(request.private ? noteViolations(request) : []),
    ...(await findMailboxViolations(deps.settings, stored.ticket.channel, request.subchannelId)),
  ];
  const message = await planReply(deps, call, request, stored.ticket);
  if (!message.private) {
    const { to = [], cc = [], bcc = [] } = message;
    violations.push(...recipientViolations(stored.ticket.channel, { to, cc, bcc }, { isSent: !isDraft }));
  }
  if (violations.length > 0) throw invalidInput(violations);
  call.idempotency?.addSubject(ticketSubject(ticketId));
  const added = await addRequestedMessage(deps, call, stored, { request, message, isDraft });
  return {
    $typeName: 'ticketing.tickets.v1.ReplyToTicketResponse',
    success: true,
    id: added.conversationId,
    conversation: await deps.views.single(call, added, true),
  };
}

async function planReply(
  deps: WriteMessageDeps,
  call: Call,
  request: ReplyToTicketRequest,
  ticket: TicketState,
): Promise<MessageWithoutText> {
  const { isDraft, intentIds } = request;
  const subject = request.subject === undefined ? replySubject(ticket) : withOneReplyPrefix(request.subject);
  const sender = await messageSender(deps, call, request.subchannelId ?? ticket.subchannelId);
  if (request.private) {
    const { agentId, authorKey } = sender;
    const subject = request.subject ?? null;
    return { direction: Direction.INTERNAL, private: true, agentId, authorKey, subject, intentIds };
  }
  return {
    ...sender,
    ...chooseRecipients(ticket, request, ownAddresses(await deps.settings())),
    direction: Direction.OUT,
    subject,
    intentIds,
    ...(isDraft ? {} : await mailFields(deps, ticket.channel, sender)),
  };
}

/** A note has no recipients, and nothing to publish. */
function noteViolations({ to, cc, bcc, isDraft, subchannelId }: ReplyToTicketRequest): Violation[] {
  const given = { to: to.length > 0, cc: cc.length > 0, bcc: bcc.length > 0, isDraft, subchannelId };
  return Object.entries(given)
    .filter(([, value]) => value)
    .map(([name]) => ({ pointer: `#/${name}`, code: 'not_allowed', detail: 'is not for a private note' }));
}

/**
 * Records a message that was received or sent elsewhere.
 *
 * Errors: ticket_not_found; unknown_subchannel, subchannel_disabled, invalid_format, not_allowed, each with a pointer;
 * those of `attachFiles` and `TemplateTexts.text`; too_many_messages; concurrent_change.
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
  const { channel } = stored.ticket;
  const direction = request.direction ?? Direction.IN;
  const { from, to, cc, bcc, subchannelId } = request;
  const violations: Violation[] = [
    ...textViolations(request),
    ...intentViolations(request.intentIds, stored.ticket),
    ...addressViolations({ channel, direction, from, to, cc, bcc }),
    ...(request.private && direction !== Direction.INTERNAL
      ? [{ pointer: '#/private', code: 'not_allowed', detail: 'is only for direction internal' }]
      : []),
  ];
  const known = violations.length === 0 && (await deps.writer.findKnown(request.externalConversationId));
  if (known) return respond(deps, call, known);
  violations.push(...(await findMailboxViolations(deps.settings, channel, subchannelId)));
  if (violations.length > 0) throw invalidInput(violations);
  const message = await planRecord(deps, call, request, stored.ticket);
  call.idempotency?.addSubject(ticketSubject(ticketId));
  const added = await addRequestedMessage(deps, call, stored, { request, message, isDraft: false });
  return respond(deps, call, added);
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

async function planRecord(
  deps: WriteMessageDeps,
  call: Call,
  request: StoreConversationRequest,
  ticket: TicketState,
): Promise<MessageWithoutText> {
  const { to, cc, bcc, createdAt, intentIds } = request;
  const direction = request.direction ?? Direction.IN;
  const subchannelId = request.subchannelId ?? ticket.subchannelId;
  const customer = { from: ticket.from, fromName: ticket.fromName, agentId: null, subchannelId };
  const sender = direction === Direction.IN ? customer : await messageSender(deps, call, subchannelId);
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
