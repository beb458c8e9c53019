import { ContentType } from '@ticketing/contracts/ticketing/tickets/v1/conversation_pb.ts';
import { Direction } from '@ticketing/contracts/ticketing/tickets/v1/enums_pb.ts';
import { DomainError } from '@ticketing/errors/domain-error.ts';
import type { AttachmentState } from '../domain/attachment.ts';
import type { MessageReference } from '../store/external-message-id-store.ts';
import { addMessage, type NewMessage } from './add-message.ts';
import { claimFiles } from './attach-files.ts';
import type { Context } from './context.ts';
import type { IncomingMail, MailCall } from './incoming-mail.ts';
import { attachMailFiles } from './mail-files.ts';
import { writeWithFiles } from './write-with-files.ts';

/**
 * Adds a mail to a ticket. Returns undefined if the ticket takes no further message: it was deleted meanwhile, or it has
 * too many.
 */
export async function addMailToTicket(
  context: Context,
  call: MailCall,
  ticketId: number,
  incoming: IncomingMail,
): Promise<MessageReference | undefined> {
  const { isProgrammatic } = incoming;
  const attachments = await attachMailFiles(context, incoming.mail.files);
  const add = async () => {
    await claimFiles(context, ticketId, attachments);
    const added = await addMessage(context, call, ticketId, messageOf(incoming, attachments), { isProgrammatic });
    const stored = attachments.length === 0 ? undefined : await context.conversations.find(added.conversationId);
    return { added, listed: stored?.conversation.attachments ?? [] };
  };
  try {
    return (await writeWithFiles(context, call, attachments, add, ({ listed }) => listed)).added;
  } catch (error) {
    if (error instanceof DomainError && ['ticket_not_found', 'too_many_messages'].includes(error.reason)) {
      return undefined;
    }
    throw error;
  }
}

function messageOf(
  { mail, externalId, subchannelId, receivedAt }: IncomingMail,
  attachments: readonly AttachmentState[],
): NewMessage {
  const { from, fromName, to, cc, subject, body, isHtml } = mail;
  return {
    direction: Direction.IN,
    type: isHtml ? ContentType.HTML : ContentType.TEXT,
    body: body ?? '',
    ...{ from, fromName, to, cc, subject, subchannelId, attachments },
    externalConversationId: externalId,
    createdAt: receivedAt,
  };
}
