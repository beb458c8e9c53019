import { ContentType } from '@ticketing/contracts/ticketing/tickets/v1/conversation_pb.ts';
import { Direction } from '@ticketing/contracts/ticketing/tickets/v1/enums_pb.ts';
import { DomainError } from '@ticketing/errors/domain-error.ts';
import { attachBytes, removeFiles } from '@ticketing/files/attach-files.ts';
import { type AttachmentState, maxMessageFiles } from '@ticketing/files/attachment.ts';
import { type NewFiles, newFiles } from '@ticketing/files/new-files.ts';
import type { Context } from '../context.ts';
import type { AddedMessage, MessageOptions, NewMessage } from '../message/add.ts';
import type { IncomingMail, MailCall, MailFile } from './mail.ts';

/**
 * Adds a mail to a ticket. Returns undefined if the ticket takes no further message: it was deleted meanwhile, or it has
 * too many. A mail without the signed token of the ticket, whose sender is no participant, does not change who gets the
 * replies.
 */
export async function addMailToTicket(
  context: Context,
  call: MailCall,
  ticketId: number,
  incoming: IncomingMail,
): Promise<AddedMessage | undefined> {
  const { mail, isProgrammatic } = incoming;
  // Anyone with a copy of a mail knows its id, but only those who got it from us know the token.
  const onlyParticipants = mail.subject === null || context.ticketTokens.find(mail.subject) !== ticketId;
  const options = { isProgrammatic, onlyParticipants };
  const files = newFiles(context, call);
  const attachments = files.add(await attachMailFiles(context, call, mail.files));
  const message = toNewMessage(incoming, attachments);
  try {
    return await files.settle(addMessage(context, call, ticketId, { message, options, files }));
  } catch (error) {
    if (error instanceof DomainError && ['ticket_not_found', 'too_many_messages'].includes(error.reason)) {
      return undefined;
    }
    throw error;
  }
}

async function addMessage(
  { writer }: Pick<Context, 'writer'>,
  call: MailCall,
  ticketId: number,
  { message, options, files }: { message: NewMessage; options: MessageOptions; files: NewFiles },
): Promise<AddedMessage> {
  const added = await writer.add(call, ticketId, message, options);
  if (added.isInserted) files.keep(message.attachments ?? []);
  return added;
}

function toNewMessage(
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

/**
 * Stores the files of a mail, which may be more than a request can have: its sender cannot send it in another form. The
 * reader of mails has checked their sizes.
 */
export async function attachMailFiles(
  context: Context,
  call: Pick<MailCall, 'caller'>,
  files: readonly MailFile[],
): Promise<AttachmentState[]> {
  const stored: AttachmentState[] = [];
  try {
    for (let start = 0; start < files.length; start += maxMessageFiles) {
      stored.push(...(await attachBytes(context, call, files.slice(start, start + maxMessageFiles))));
    }
  } catch (error) {
    // If this fails too, the sweeper removes them.
    await removeFiles(context, stored).catch(() => undefined);
    throw error;
  }
  return stored;
}
