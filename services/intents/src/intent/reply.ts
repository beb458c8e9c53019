import type { JsonObject } from '@bufbuild/protobuf';
import type { Client } from '@connectrpc/connect';
import type { RenderingService } from '@ticketing/contracts/ticketing/templates/v1/rendering_service_pb.ts';
import { NotSentReason } from '@ticketing/contracts/ticketing/tickets/v1/conversation_pb.ts';
import { Channel } from '@ticketing/contracts/ticketing/tickets/v1/enums_pb.ts';
import type { Ticket } from '@ticketing/contracts/ticketing/tickets/v1/ticket_pb.ts';
import type { TicketService } from '@ticketing/contracts/ticketing/tickets/v1/ticket_service_pb.ts';
import type { OnBehalfOf } from '@ticketing/service-kit/client/service-client.ts';

/** The services that make the text of a reply. */
export interface ReplyServices {
  tickets(call: OnBehalfOf): Client<typeof TicketService>;
  rendering(call: OnBehalfOf): Client<typeof RenderingService>;
}

/**
 * Reads the values for a reply to a ticket, and returns the function that renders it. Writes nothing.
 *
 * Errors, also of that function: those of the tickets and templates services, as ConnectError.
 */
export type PrepareReply = (call: OnBehalfOf, answered: AnsweredTicket) => Promise<RenderReply>;

/** Renders a reply from a response template and the data of the intent. */
export type RenderReply = (templateId: number, data: JsonObject) => Promise<string>;

/** Makes the function that prepares replies. */
export function openReplies({ tickets, rendering }: ReplyServices): PrepareReply {
  return async (call, answered) => {
    const { trace, signal } = call;
    const { variables } = await tickets(call).getTemplateVariables({ ticketId: answered.ticket.id });
    const values = JSON.parse(Buffer.from(variables).toString('utf8'));
    return async (templateId, data) => {
      const { message } = await rendering({ trace, signal }).renderTemplate({
        templateId,
        variables: Buffer.from(JSON.stringify({ ...values, in: data })),
        withWrapper: isAnsweredByMail(answered),
      });
      return message;
    };
  };
}

/** A ticket, and why a reply to it would not be sent; absent if it would be. */
export interface AnsweredTicket {
  ticket: Ticket;
  replyNotSent?: NotSentReason | undefined;
}

/** Whether a reply to a ticket is a mail, or one of channel email that has no recipient. */
function isAnsweredByMail({ ticket: { channel }, replyNotSent }: AnsweredTicket): boolean {
  return channel === Channel.EMAIL || replyNotSent === undefined;
}

/**
 * Returns why the customer of a ticket cannot be informed; undefined if the customer can. In a chat the customer reads the
 * answer where the chat is shown.
 */
export function findReasonNotInformed({
  ticket,
  replyNotSent,
}: AnsweredTicket): 'no_recipient' | 'no_sender' | undefined {
  const { to = [], cc = [], bcc = [] } = ticket.replyRecipients ?? {};
  if (replyNotSent === undefined) return to.length + cc.length + bcc.length === 0 ? 'no_recipient' : undefined;
  if (replyNotSent === NotSentReason.NO_SENDER) return 'no_sender';
  const isRead = replyNotSent === NotSentReason.CHANNEL_WITHOUT_MAIL && ticket.channelId !== undefined;
  return isRead ? undefined : 'no_recipient';
}

/** Finds the recipients of a message to the customer of a ticket; empty if there are none. */
export function findRecipients(answered: AnsweredTicket): string[] {
  const { replyRecipients } = answered.ticket;
  // Where only a sender is missing, an admin can still set one.
  const isNobody = findReasonNotInformed(answered) === 'no_recipient';
  return replyRecipients && !isNobody ? shownRecipients(replyRecipients) : [];
}

/** The recipients of a message that an intent or an outcome shows: those who get copies only if there are no others. */
export function shownRecipients({ to, cc }: { to: readonly string[]; cc: readonly string[] }): string[] {
  return [...(to.length > 0 ? to : cc)];
}
