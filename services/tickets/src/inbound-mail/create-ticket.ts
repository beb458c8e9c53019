import { Channel, Direction } from '@ticketing/contracts/ticketing/tickets/v1/enums_pb.ts';
import { ReceivedMailOutcome } from '@ticketing/contracts/ticketing/tickets/v1/mail_service_pb.ts';
import type { AttachmentState } from '@ticketing/files/attachment.ts';
import { type NewFiles, newFiles } from '@ticketing/files/new-files.ts';
import { conflict, retryOnConflict } from '@ticketing/store/document/retry-on-conflict.ts';
import { isPartOfTicket } from '../message/checks.ts';
import { decideTicket } from '../ticket/insert.ts';
import type { TicketInput } from '../ticket/rules/fields.ts';
import { attachMailFiles } from './add-to-ticket.ts';
import type { IncomingMail, MailCall, ReceivedMail } from './mail.ts';
import type { InboundMailDeps } from './open.ts';

/**
 * Creates the ticket of a mail.
 *
 * The steps, and what is left if the process dies after one of them:
 * 1. The files of the mail are stored: the sweeper of files removes them.
 * 2. The external id of the mail is claimed, with the ids of the ticket and its first message. Another process that takes in
 *    the same mail, at the same time or after a crash, uses the same ids; the sweeper of message ids frees it.
 * 3. The ticket is inserted: everything is visible.
 *
 * Errors: concurrent_change, if its ticket is created and deleted again and again.
 */
export async function createTicketOfMail(
  deps: InboundMailDeps,
  call: MailCall,
  incoming: IncomingMail,
): Promise<ReceivedMail> {
  const files = newFiles(deps.attachments, call);
  return files.settle(create(deps, call, incoming, files));
}

async function create(
  deps: InboundMailDeps,
  call: MailCall,
  incoming: IncomingMail,
  files: NewFiles,
): Promise<ReceivedMail> {
  const attachments = await attachMailFiles(deps.attachments, call, incoming.mail.files, files);
  const input = await toTicketInput(deps, call, incoming, attachments);
  const received = await retryOnConflict(deps.attachments.runtime, 'The ticket is being changed too often.', () =>
    insertOnce(deps, call, incoming.externalId, input),
  );
  if (received.outcome === ReceivedMailOutcome.TICKET_CREATED) files.keep(attachments);
  return received;
}

/** Claims the external id and inserts the ticket. Returns `conflict` if the claim is no longer valid. */
async function insertOnce(
  deps: InboundMailDeps,
  { caller, trace }: MailCall,
  externalId: string,
  input: TicketInput,
): Promise<ReceivedMail | typeof conflict> {
  const { newTickets, messages } = deps;
  const { externalMessageIds } = messages;
  // Ids are proposed at each attempt, because the ticket of the last ones may have been deleted.
  const proposed = { ticketId: await newTickets.ids.next(), conversationId: await messages.conversationIds.next() };
  const claimed = await externalMessageIds.claim(externalId, proposed);
  // The claim of another process might be swept before the ticket is inserted.
  const isOwn = claimed.ticketId === proposed.ticketId;
  if (!isOwn && !(await externalMessageIds.renew(externalId, claimed))) return conflict;
  const ids = { id: claimed.ticketId, openingMessageId: claimed.conversationId };
  const ticket = decideTicket(await newTickets.draft({ caller, trace }, input, ids));
  if (await newTickets.insert({ caller, trace }, ticket)) {
    return { ...claimed, outcome: ReceivedMailOutcome.TICKET_CREATED };
  }
  if (await isPartOfTicket(deps, claimed)) return { ...claimed, outcome: ReceivedMailOutcome.ALREADY_KNOWN };
  // The ticket was deleted, or a process died while it added the mail to the ticket as a message.
  await externalMessageIds.freeOne(externalId, claimed);
  return conflict;
}

async function toTicketInput(
  { newTickets }: InboundMailDeps,
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
    ...(await newTickets.textWork.bodyFields(body, call.caller, !isHtml)),
    isBodyText: !isHtml,
    rawData: JSON.stringify({ messageId, headers }),
    createdAt: receivedAt,
  };
}
