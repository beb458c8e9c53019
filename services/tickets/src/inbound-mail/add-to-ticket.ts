import { ContentType } from '@ticketing/contracts/ticketing/tickets/v1/conversation_pb.ts';
import { Direction } from '@ticketing/contracts/ticketing/tickets/v1/enums_pb.ts';
import { beforeChange, DomainError } from '@ticketing/errors/domain-error.ts';
import { attachBytes } from '@ticketing/files/attach-files.ts';
import { type AttachmentState, maxMessageFiles } from '@ticketing/files/attachment.ts';
import type { FileContext } from '@ticketing/files/file-context.ts';
import { type NewFiles, newFiles } from '@ticketing/files/new-files.ts';
import type { AddedMessage, NewMessage } from '../message/add.ts';
import type { IncomingMail, MailCall, MailFile } from './mail.ts';
import type { InboundMailDeps } from './open.ts';

/**
 * Adds a mail to a ticket. Returns undefined if the ticket takes no further message: it was deleted meanwhile, or it has
 * too many. A mail without the signed token of the ticket, whose sender is no participant, does not change who gets the
 * replies.
 */
export async function addMailToTicket(
  deps: InboundMailDeps,
  call: MailCall,
  ticketId: number,
  incoming: IncomingMail,
): Promise<AddedMessage | undefined> {
  const files = newFiles(deps.attachments, call);
  try {
    return await files.settle(add(deps, call, ticketId, incoming, files));
  } catch (error) {
    if (error instanceof DomainError && ['ticket_not_found', 'too_many_messages'].includes(error.reason)) {
      return undefined;
    }
    throw error;
  }
}

async function add(
  deps: InboundMailDeps,
  call: MailCall,
  ticketId: number,
  incoming: IncomingMail,
  files: NewFiles,
): Promise<AddedMessage> {
  const { isProgrammatic, mail } = incoming;
  // Anyone with a copy of a mail knows its id, but only those who got it from us know the token.
  const onlyParticipants = mail.subject === null || deps.ticketTokens.find(mail.subject) !== ticketId;
  const attachments = await attachMailFiles(deps.attachments, call, mail.files, files);
  const message = toNewMessage(incoming, attachments);
  const added = await deps.writer.add(call, ticketId, message, { isProgrammatic, onlyParticipants });
  if (added.isInserted) files.keep(attachments);
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
  context: FileContext,
  call: Pick<MailCall, 'caller'>,
  mailFiles: readonly MailFile[],
  files: NewFiles,
): Promise<AttachmentState[]> {
  const attachments: AttachmentState[] = [];
  try {
    for (let start = 0; start < mailFiles.length; start += maxMessageFiles) {
      attachments.push(...files.add(await attachBytes(context, call, mailFiles.slice(start, start + maxMessageFiles))));
    }
  } catch (error) {
    // Nothing lists the files of this mail yet.
    throw beforeChange(error);
  }
  return attachments;
}
