import type {
  ReplyToTicketRequest,
  ReplyToTicketResponse,
} from '@ticketing/contracts/ticketing/tickets/v1/conversation_service_pb.ts';
import { Direction } from '@ticketing/contracts/ticketing/tickets/v1/enums_pb.ts';
import { invalidInput, notFound, type Violation } from '@ticketing/errors/domain-error.ts';
import type { Call } from '@ticketing/service-kit/call/call.ts';
import { type Context, ticketSubject } from '../context.ts';
import { findMailboxViolations } from '../ticket/find-subchannel-violations.ts';
import type { TicketState } from '../ticket/rules/fields.ts';
import { ownAddresses } from '../ticket/rules/mailbox.ts';
import { addDraft, addMessage } from './add.ts';
import { addRequestedMessage, type MessageWithoutText, textViolations } from './add-requested.ts';
import { intentViolations } from './find-intent-violations.ts';
import { recipientsOf, recipientViolations, replySubject } from './rules/reply.ts';
import { mailFields, messageSender } from './sender.ts';
import { singleConversation } from './to-proto.ts';

/**
 * Writes a message to the customer, a draft of one, or a private note.
 *
 * Errors: ticket_not_found; unknown_intent, unknown_subchannel, subchannel_disabled, invalid_format, not_allowed, no_recipient, each with
 * a pointer; those of `attachFiles` and `templateText`; too_many_messages; concurrent_change.
 * Source: docs/reference/api.md, Conversations.
 */
export async function replyToTicket(
  context: Context,
  call: Call,
  request: ReplyToTicketRequest,
): Promise<ReplyToTicketResponse> {
  const { ticketId, isDraft = false } = request;
  const stored = await context.tickets.find(ticketId);
  if (!stored) throw notFound('Ticket');
  const violations = [
    ...textViolations(request),
    ...intentViolations(request.intentIds, stored.ticket),
    ...(request.private ? noteViolations(request) : []),
    ...(await findMailboxViolations(context, stored.ticket.channel, request.subchannelId)),
  ];
  const message = await messageOf(context, call, request, stored.ticket);
  if (!message.private) {
    const { to = [], cc = [], bcc = [] } = message;
    violations.push(...recipientViolations(stored.ticket.channel, { to, cc, bcc }, { isSent: !isDraft }));
  }
  if (violations.length > 0) throw invalidInput(violations);
  call.idempotency?.addSubject(ticketSubject(ticketId));
  const add = isDraft ? addDraft : addMessage;
  const added = await addRequestedMessage(context, call, stored, { request, message, add });
  return {
    $typeName: 'ticketing.tickets.v1.ReplyToTicketResponse',
    success: true,
    id: added.conversationId,
    conversation: await singleConversation(context, call, added, true),
  };
}

async function messageOf(
  context: Context,
  call: Call,
  request: ReplyToTicketRequest,
  ticket: TicketState,
): Promise<MessageWithoutText> {
  const { isDraft, subject = replySubject(ticket), intentIds } = request;
  const sender = await messageSender(context, call, request.subchannelId ?? ticket.subchannelId);
  if (request.private) {
    const { agentId, authorKey } = sender;
    const subject = request.subject ?? null;
    return { direction: Direction.INTERNAL, private: true, agentId, authorKey, subject, intentIds };
  }
  return {
    ...sender,
    ...recipientsOf(ticket, request, ownAddresses(await context.settings())),
    direction: Direction.OUT,
    subject,
    intentIds,
    ...(isDraft ? {} : await mailFields(context, ticket.channel, sender)),
  };
}

/** A note has no recipients, and nothing to publish. */
function noteViolations({ to, cc, bcc, isDraft, subchannelId }: ReplyToTicketRequest): Violation[] {
  const given = { to: to.length > 0, cc: cc.length > 0, bcc: bcc.length > 0, isDraft, subchannelId };
  return Object.entries(given)
    .filter(([, value]) => value)
    .map(([name]) => ({ pointer: `#/${name}`, code: 'not_allowed', detail: 'is not for a private note' }));
}
