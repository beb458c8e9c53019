import { Channel, Direction } from '@ticketing/contracts/ticketing/tickets/v1/enums_pb.ts';
import { ReceivedMailOutcome } from '@ticketing/contracts/ticketing/tickets/v1/mail_service_pb.ts';
import { DomainError } from '@ticketing/errors/domain-error.ts';
import type { AttachmentState } from '@ticketing/files/attachment.ts';
import { writeWithFiles } from '@ticketing/files/write-with-files.ts';
import type { Context } from '../context.ts';
import { isPartOfTicket } from '../message/find-known.ts';
import { prepareTicket, storeTicket } from '../ticket/insert.ts';
import type { TicketInput } from '../ticket/rules/fields.ts';
import { attachMailFiles } from './add-to-ticket.ts';
import type { IncomingMail, MailCall, ReceivedMail } from './mail.ts';

const maxAttempts = 20;

/**
 * Creates the ticket of a mail. The external id of the mail is claimed first, with the ids of the ticket and its message:
 * another process that takes in the same mail, at the same time or after a crash, uses the same ids.
 *
 * Errors: concurrent_change, if its ticket is created and deleted again and again.
 */
export async function createTicketOfMail(
  context: Context,
  call: MailCall,
  incoming: IncomingMail,
): Promise<ReceivedMail> {
  const attachments = await attachMailFiles(context, call, incoming.mail.files);
  const input = await toTicketInput(context, call, incoming, attachments);
  const write = () => insertOnce(context, call, incoming, input);
  const listed = ({ outcome }: ReceivedMail) => (outcome === ReceivedMailOutcome.TICKET_CREATED ? attachments : []);
  return writeWithFiles(context, call, attachments, write, listed);
}

async function insertOnce(
  context: Context,
  call: MailCall,
  { externalId }: IncomingMail,
  input: TicketInput,
): Promise<ReceivedMail> {
  const newIds = async () => ({
    ticketId: await context.ticketIds.next(),
    conversationId: await context.conversationIds.next(),
  });
  let proposed = await newIds();
  let claimed = await context.externalMessageIds.claim(externalId, proposed);
  for (let attempt = 0; attempt < maxAttempts; attempt++) {
    // The claim of another process might be swept before the ticket is inserted.
    const isOwn = claimed.ticketId === proposed.ticketId;
    if (!isOwn && !(await context.externalMessageIds.renew(externalId, claimed))) {
      claimed = await context.externalMessageIds.claim(externalId, proposed);
      continue;
    }
    const { ticketId, conversationId } = claimed;
    const ids = { id: ticketId, openingMessageId: conversationId };
    const ticket = await prepareTicket(context, call, input, ids);
    const inserted = await storeTicket(context, { caller: call.caller, trace: call.trace }, ticket);
    if (inserted) return { ...claimed, outcome: ReceivedMailOutcome.TICKET_CREATED };
    if (await isPartOfTicket(context, claimed)) return { ...claimed, outcome: ReceivedMailOutcome.ALREADY_KNOWN };
    // The ticket was deleted, or a process died while it added the mail to the ticket as a message.
    proposed = await newIds();
    const isReplaced = await context.externalMessageIds.replace(externalId, claimed, proposed);
    claimed = isReplaced ? proposed : await context.externalMessageIds.claim(externalId, proposed);
  }
  throw new DomainError('aborted', 'concurrent_change', 'The ticket is being changed too often.');
}

async function toTicketInput(
  context: Context,
  call: MailCall,
  { mail, subchannelId, receivedAt }: IncomingMail,
  attachments: readonly AttachmentState[],
): Promise<TicketInput> {
  const { from, fromName, to, cc, subject, isHtml, messageId, headers } = mail;
  const body = mail.body ?? '';
  return {
    channel: Channel.EMAIL,
    direction: Direction.IN,
    ...{ from, fromName, to, cc, subject, body, subchannelId, attachments },
    ...(await context.textWork.bodyFields(body, call.caller, !isHtml)),
    isBodyText: !isHtml,
    rawData: JSON.stringify({ messageId, headers }),
    createdAt: receivedAt,
  };
}
