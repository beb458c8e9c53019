import { Channel, Direction } from '@ticketing/contracts/ticketing/tickets/v1/enums_pb.ts';
import { ReceivedMailOutcome } from '@ticketing/contracts/ticketing/tickets/v1/mail_service_pb.ts';
import type { AttachmentState } from '@ticketing/files/attachment.ts';
import { type NewFiles, newFiles } from '@ticketing/files/new-files.ts';
import type { Context } from '../context.ts';
import { isPartOfTicket } from '../message/find.ts';
import { retryOnConflict } from '../retry-on-conflict.ts';
import { decideTicket } from '../ticket/insert.ts';
import type { TicketInput } from '../ticket/rules/fields.ts';
import { attachMailFiles } from './add-to-ticket.ts';
import type { IncomingMail, MailCall, ReceivedMail } from './mail.ts';

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
  const files = newFiles(context, call);
  const attachments = files.add(await attachMailFiles(context, call, incoming.mail.files));
  const input = await toTicketInput(context, call, incoming, attachments);
  return files.settle(insertMail(context, call, incoming.externalId, { input, files }));
}

/** Inserts the ticket, unless another process has taken the mail in. */
async function insertMail(
  context: Context,
  call: MailCall,
  externalId: string,
  { input, files }: { input: TicketInput; files: NewFiles },
): Promise<ReceivedMail> {
  const received = await retryOnConflict(context.runtime, 'ticket', () => insertOnce(context, call, externalId, input));
  if (received.outcome === ReceivedMailOutcome.TICKET_CREATED) files.keep(input.attachments ?? []);
  return received;
}

/** Returns undefined if another process interferes. */
async function insertOnce(
  context: Context,
  call: MailCall,
  externalId: string,
  input: TicketInput,
): Promise<ReceivedMail | undefined> {
  const { externalMessageIds, ticketIds, conversationIds } = context;
  const proposed = { ticketId: await ticketIds.next(), conversationId: await conversationIds.next() };
  const claimed = await externalMessageIds.claim(externalId, proposed);
  // The claim of another process might be swept before the ticket is inserted.
  const isOwn = claimed.ticketId === proposed.ticketId;
  if (!isOwn && !(await externalMessageIds.renew(externalId, claimed))) return undefined;
  const { ticketId, conversationId } = claimed;
  const draft = await context.draft(call, input, { id: ticketId, openingMessageId: conversationId });
  const inserted = await context.insert({ caller: call.caller, trace: call.trace }, decideTicket(draft));
  if (inserted) return { ...claimed, outcome: ReceivedMailOutcome.TICKET_CREATED };
  if (await isPartOfTicket(context, claimed)) return { ...claimed, outcome: ReceivedMailOutcome.ALREADY_KNOWN };
  // The ticket was deleted, or a process died while it added the mail to the ticket as a message.
  await externalMessageIds.freeOne(externalId, claimed);
  return undefined;
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
