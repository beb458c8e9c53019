import { ContentType } from '@ticketing/contracts/ticketing/tickets/v1/conversation_pb.ts';
import { Channel, Direction, SpamStatus } from '@ticketing/contracts/ticketing/tickets/v1/enums_pb.ts';
import { ReceivedMailOutcome } from '@ticketing/contracts/ticketing/tickets/v1/mail_service_pb.ts';
import { beforeChange, DomainError } from '@ticketing/errors/domain-error.ts';
import { attachBytes } from '@ticketing/files/attach-files.ts';
import { type AttachmentState, maxMessageFiles } from '@ticketing/files/attachment.ts';
import type { FileContext } from '@ticketing/files/file-context.ts';
import { type NewFiles, newFiles } from '@ticketing/files/new-files.ts';
import { conflict, retryOnConflict } from '@ticketing/store/document/retry-on-conflict.ts';
import type { IdSequence } from '@ticketing/store/ids/id-sequence.ts';
import type { AddedMessage, MessageStores, MessageWriter, NewMessage } from '../message/add.ts';
import { isPartOfTicket } from '../message/checks.ts';
import { isSameMail, type MailIdentity, type MessageReference } from '../message/external-id-store.ts';
import type { DeliveryReport } from '../message/rules/delivery-report.ts';
import type { ReturnAddresses, TicketTokens } from '../message/rules/outgoing-mail.ts';
import { mailThread } from '../rules/mail-thread.ts';
import type { ReadSettings } from '../settings.ts';
import type { TextWork } from '../text/work.ts';
import type { TicketWrites } from '../ticket/create.ts';
import { decideTicket } from '../ticket/insert.ts';
import type { TicketInput } from '../ticket/rules/fields.ts';
import type { TicketStore } from '../ticket/store/store.ts';
import type { IdentifiedMail, IncomingMail, MailCall, MailFile, ParsedMail, ReceivedMail } from './mail.ts';
import { assignRawMail, type RawMail, storeRawMail } from './raw-mail.ts';
import type { MailReader } from './reader.ts';

export interface InboundMailDeps {
  mailReader: Pick<MailReader, 'read'>;
  settings: ReadSettings;
  ticketTokens: TicketTokens;
  returnAddresses: Pick<ReturnAddresses, 'find'>;
  /** Takes a delivery report. Returns the message that it is about. */
  takeReport(report: DeliveryReport, returned: MessageReference | undefined): Promise<MessageReference | undefined>;
  tickets: Pick<TicketStore, 'find' | 'findMessages'>;
  newTickets: NewTickets;
  messages: MessageStores;
  writer: Pick<MessageWriter, 'add'>;
  attachments: FileContext;
}

/** How a mail becomes a new ticket. */
interface NewTickets extends Pick<TicketWrites, 'draft' | 'insert'> {
  ids: Pick<IdSequence, 'next'>;
  textWork: Pick<TextWork, 'bodyFields'>;
}

/**
 * Reads a mail as the settings say. `sender` names its sender, for a fair share of the work.
 *
 * Errors: invalid_mail, mail_too_large; those of `MailReader.read`.
 */
export async function readMail(
  { mailReader, settings }: Pick<InboundMailDeps, 'mailReader' | 'settings'>,
  { sender, raw }: { sender: string; raw: Uint8Array },
): Promise<ParsedMail> {
  const { embedMailImages: embedsImages } = await settings();
  const mail = await mailReader.read(sender, raw, { embedsImages });
  if (!('problem' in mail)) return mail;
  throw new DomainError('invalid_argument', mail.isTooLarge ? 'mail_too_large' : 'invalid_mail', mail.problem);
}

/** By what a mail is known under its external id. */
export function mailIdentity({ mail: { digest }, subchannelId }: IncomingMail): MailIdentity {
  return { digest, mailbox: subchannelId };
}

/**
 * Creates the ticket of a mail. Returns undefined if another mail has its external id.
 *
 * The steps, and what is left if the process dies after one of them:
 * 1. The files of the mail and its raw form are stored: the sweeper of files removes them.
 * 2. The external id of the mail is claimed, with the ids of the ticket and its first message. Another process that takes in
 *    the same mail, at the same time or after a crash, uses the same ids; the sweeper of message ids frees it.
 * 3. The raw form becomes that of the first message: the sweeper of files removes it.
 * 4. The ticket is inserted: everything is visible.
 *
 * Errors: concurrent_change, if its ticket is created and deleted again and again.
 */
export async function createTicketOfMail(
  deps: InboundMailDeps,
  call: MailCall,
  incoming: IdentifiedMail,
): Promise<ReceivedMail | undefined> {
  const files = newFiles(deps.attachments, call);
  return files.settle(create(deps, call, incoming, files));
}

async function create(
  deps: InboundMailDeps,
  call: MailCall,
  incoming: IdentifiedMail,
  files: NewFiles,
): Promise<ReceivedMail | undefined> {
  const attachments = await attachMailFiles(deps.attachments, call, incoming.mail.files, files);
  const rawMails = await keepRawMail(deps, call, incoming, files);
  const input = await toTicketInput(deps, call, incoming, attachments);
  const received = await retryOnConflict(deps.attachments.runtime, 'The ticket is being changed too often.', () =>
    insertOnce(deps, call, incoming, { input, rawMails }),
  );
  if (received?.outcome === ReceivedMailOutcome.TICKET_CREATED) files.keep([...attachments, ...rawMails]);
  return received;
}

/**
 * Claims the external id and inserts the ticket. Returns `conflict` if the claim is no longer valid, and undefined if it
 * is of another mail.
 */
async function insertOnce(
  deps: InboundMailDeps,
  { caller, trace }: MailCall,
  incoming: IdentifiedMail,
  { input, rawMails }: { input: TicketInput; rawMails: readonly RawMail[] },
): Promise<ReceivedMail | typeof conflict | undefined> {
  const { externalId, threadTicketId } = incoming;
  const { newTickets, messages } = deps;
  const { externalMessageIds } = messages;
  // Ids are proposed at each attempt, because the ticket of the last ones may have been deleted.
  const proposed = { ticketId: await newTickets.ids.next(), conversationId: await messages.conversationIds.next() };
  const mail = mailIdentity(incoming);
  const { mail: claimedFor, ...claimed } = await externalMessageIds.claim(externalId, { ...proposed, mail });
  if (isSameMail({ ...claimed, mail: claimedFor }, mail, threadTicketId) === false) return undefined;
  // The claim of another process might be swept before the ticket is inserted.
  const isOwn = claimed.ticketId === proposed.ticketId;
  if (!isOwn && !(await externalMessageIds.renew(externalId, claimed))) return conflict;
  for (const rawMail of rawMails) await assignRawMail(deps.attachments, rawMail, claimed);
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

/** How many addresses of a report that is about no message of ours are kept. */
const maxReportedRecipients = 100;

async function toTicketInput(
  { newTickets }: InboundMailDeps,
  call: MailCall,
  { mail, subchannelId, receivedAt, isProgrammatic, author }: IncomingMail,
  attachments: readonly AttachmentState[],
): Promise<TicketInput> {
  const { from, fromName, to, cc, replyTo, subject, isHtml, messageId, headers, report } = mail;
  const reported = report && [...new Set(report.recipients.flatMap(({ addresses }) => addresses))];
  const failedRecipients = reported?.slice(0, maxReportedRecipients);
  const body = mail.body ?? '';
  return {
    channel: Channel.EMAIL,
    direction: Direction.IN,
    ...{ from, fromName, to, cc, replyTo, author, subject, body, subchannelId, attachments },
    ...(isProgrammatic
      ? { spamStatus: SpamStatus.AUTO_PROGRAMMATIC }
      : { lastMail: mailThread(messageId, mail.references) }),
    ...(await newTickets.textWork.bodyFields(body, call.caller, !isHtml)),
    isBodyText: !isHtml,
    rawData: JSON.stringify({ messageId, headers, ...(failedRecipients && { failedRecipients }) }),
    createdAt: receivedAt,
  };
}

/**
 * Adds a mail to a ticket. Returns undefined if the ticket takes no further message: it was deleted meanwhile, or it has
 * too many. A mail without the signed token of the ticket, whose sender is no participant, does not change who gets the
 * replies.
 */
export async function addMailToTicket(
  deps: InboundMailDeps,
  call: MailCall,
  ticketId: number,
  incoming: IdentifiedMail,
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
  incoming: IdentifiedMail,
  files: NewFiles,
): Promise<AddedMessage> {
  const { isProgrammatic, author, isOfOurs, mail } = incoming;
  // Anyone with a copy of a mail knows its id, but only those who got it from us know the token.
  const hasToken = mail.subject !== null && deps.ticketTokens.find(mail.subject) === ticketId;
  const attachments = await attachMailFiles(deps.attachments, call, mail.files, files);
  const [rawMail] = await keepRawMail(deps, call, incoming, files);
  const message = toNewMessage(incoming, attachments);
  const { replyTo, messageId, references } = mail;
  const added = await deps.writer.add(call, ticketId, message, {
    ...{ isProgrammatic, replyTo, author, mail: mailIdentity(incoming) },
    ...(hasToken ? {} : { participant: isOfOurs ? null : (author ?? mail.from) }),
    ...(rawMail && { assignRawMail: (own) => assignRawMail(deps.attachments, rawMail, own) }),
    thread: mailThread(messageId, references),
  });
  if (added.isInserted) files.keep([...attachments, ...(rawMail ? [rawMail] : [])]);
  return added;
}

function toNewMessage(
  { mail, externalId, subchannelId, receivedAt, isProgrammatic }: IdentifiedMail,
  attachments: readonly AttachmentState[],
): NewMessage {
  const { from, fromName, to, cc, subject, body, isHtml } = mail;
  return {
    direction: Direction.IN,
    type: isHtml ? ContentType.HTML : ContentType.TEXT,
    body: body ?? '',
    ...{ from, fromName, to, cc, subject, subchannelId, attachments },
    externalConversationId: externalId,
    isAutomatic: isProgrammatic,
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

/** Stores the raw form of a mail, and returns it; nothing if it is not kept. */
async function keepRawMail(
  deps: InboundMailDeps,
  call: MailCall,
  { raw }: IncomingMail,
  files: NewFiles,
): Promise<readonly RawMail[]> {
  try {
    const rawMail = await storeRawMail(deps, call, raw);
    return files.add(rawMail ? [rawMail] : []);
  } catch (error) {
    // Nothing has the files of this mail yet.
    throw beforeChange(error);
  }
}
