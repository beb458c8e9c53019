import {
  ReceivedMailOutcome,
  type ReceiveMailRequest,
  type ReceiveMailResponse,
} from '@ticketing/contracts/ticketing/tickets/v1/mail_service_pb.ts';
import { DomainError, invalidInput } from '@ticketing/errors/domain-error.ts';
import { secondsNow } from '@ticketing/runtime/runtime.ts';
import type { Call } from '@ticketing/service-kit/call/call.ts';
import { callerKey } from '@ticketing/service-kit/identity/caller.ts';
import type { AddedMessage } from '../message/add.ts';
import { isPartOfTicket, isSentBy } from '../message/checks.ts';
import { isSameMail, type MessageReference } from '../message/external-id-store.ts';
import { ticketTokenHeader } from '../message/rules/outgoing-mail.ts';
import type { TicketSettings } from '../settings.ts';
import { findSubchannelViolations } from '../ticket/checks.ts';
import { authorAddress } from '../ticket/rules/reply-recipients.ts';
import { isProgrammatic } from '../ticket/rules/spam.ts';
import { findMailboxes, programRules } from '../ticket/rules/subchannels.ts';
import { ticketSubject } from '../ticket/store/document.ts';
import {
  type IdentifiedMail,
  type IncomingMail,
  type MailCall,
  mailLimits,
  type ParsedMail,
  type ReceivedMail,
} from './mail.ts';
import { findReturned, returnedMailbox } from './returned.ts';
import { addMailToTicket, createTicketOfMail, type InboundMailDeps, mailIdentity, readMail } from './to-ticket.ts';

/** Takes in an e-mail. Errors: those of `takeInMail`. Source: docs/reference/api.md, Incoming mail. */
export async function receiveMail(
  deps: InboundMailDeps,
  call: Call,
  { mail, subchannelId, keepDate = false }: ReceiveMailRequest,
): Promise<ReceiveMailResponse> {
  const [received, ...others] = await takeInMail(deps, call, {
    raw: mail,
    subchannelId,
    keepDate,
    sender: callerKey(call.caller),
  });
  const otherTicketIds = [...new Set(others.map(({ ticketId }) => ticketId))];
  for (const ticketId of [received.ticketId, ...otherTicketIds]) call.idempotency?.addSubject(ticketSubject(ticketId));
  return { $typeName: 'ticketing.tickets.v1.ReceiveMailResponse', ...received, otherTicketIds };
}

/** A mail that has arrived. */
interface ArrivedMail {
  raw: Uint8Array;
  /** The mailbox that has received it; undefined to find it by the recipients. */
  subchannelId?: number | undefined;
  /** The recipients to which it was transferred, if known. */
  recipients?: readonly string[];
  /** The address to which failures are reported, if known: empty if to nobody, as in a report. */
  returnPath?: string;
  /** Whether it counts as received at its `Date`. */
  keepDate: boolean;
  /** Names the sender, for a fair share of the work. */
  sender: string;
}

/**
 * Takes in a mail, once in each mailbox that received it: as a message of the ticket that it replies to, else as a new
 * ticket. The call may be repeated at any time, even after a crash; the mail is taken in once. It is known if a message
 * has its `Message-ID` and is of the same mail: of the same author, date, subject and parts, in the same mailbox or in
 * the ticket that the mail answers.
 *
 * Errors: invalid_mail, mail_too_large, mail_loop; unknown_subchannel, subchannel_disabled, settings_unavailable;
 * sandbox_busy, sandbox_crashed, store_unavailable, concurrent_change.
 * Source: docs/reference/api.md, Incoming mail.
 */
export async function takeInMail(
  deps: InboundMailDeps,
  call: MailCall,
  arrived: ArrivedMail,
): Promise<[ReceivedMail, ...ReceivedMail[]]> {
  const [mailbox, ...others] = await readIncoming(deps, arrived);
  const first = await takeInMailbox(deps, call, mailbox);
  const received: [ReceivedMail, ...ReceivedMail[]] = [first];
  for (const incoming of others) received.push(await takeInMailbox(deps, call, incoming));
  return received;
}

/** Takes in the mail of a mailbox, under the first of its external ids that no other mail has. */
async function takeInMailbox(deps: InboundMailDeps, call: MailCall, incoming: IncomingMail): Promise<ReceivedMail> {
  const { subchannelId } = incoming;
  const { messageId, digest } = incoming.mail;
  let thread: Promise<number | undefined> | undefined;
  const findThreadOnce = () => {
    thread ??= findThread(deps, incoming);
    return thread;
  };
  const takeInAs = async (externalId: string): Promise<ReceivedMail | OtherMail> => {
    const find = () => findKnown(deps, incoming, externalId, findThreadOnce);
    let known = await find();
    if (!known) {
      const received = await takeIn(deps, call, { ...incoming, externalId, threadTicketId: await findThreadOnce() });
      if (received) return received;
      // Another mail has just got the id.
      known = (await find()) ?? 'other';
    }
    return typeof known === 'string' ? known : { ...known, outcome: ReceivedMailOutcome.ALREADY_KNOWN };
  };
  if (messageId !== null) {
    let received = await takeInAs(messageId);
    // A mail to two mailboxes becomes two tickets.
    if (received === 'copy') received = await takeInAs(mailboxId(messageId, subchannelId));
    if (typeof received !== 'string') return received;
  }
  // Machines repeat ids for other mails. An answer is one message, whichever mailboxes have received it.
  const ofContent = `sha256:${digest}`;
  const answered = await findThreadOnce();
  const received = await takeInAs(
    answered === undefined ? mailboxId(ofContent, subchannelId) : `${ofContent} #${answered}`,
  );
  if (typeof received !== 'string') return received;
  throw new DomainError('aborted', 'concurrent_change', 'Another mail has each id of this one.');
}

/** The mail that has an external id already: the same in another mailbox, or another one. */
type OtherMail = 'copy' | 'other';

/** The external id of a mail that only one mailbox uses. */
function mailboxId(id: string, subchannelId: number | null): string {
  return `${id} ${subchannelId ?? ''}`.trim();
}

/** Takes in a mail that is not known under its external id. Returns undefined if another mail has got the id. */
async function takeIn(deps: InboundMailDeps, call: MailCall, mail: IdentifiedMail): Promise<ReceivedMail | undefined> {
  requireNotOurs(deps, mail.mail);
  const { report } = mail.mail;
  const failed = report ? await deps.takeReport(report, mail.returned) : undefined;
  const threadTicketId = failed?.ticketId ?? mail.threadTicketId;
  if (threadTicketId !== undefined) {
    await requireNoLoop(deps, threadTicketId, mail);
    const added = await addMailToTicket(deps, call, threadTicketId, mail);
    if (added?.isTaken) return undefined;
    if (added) return toReceived(deps, mail, added, ReceivedMailOutcome.MESSAGE_ADDED);
  }
  const created = await createTicketOfMail(deps, call, mail);
  if (!created) return undefined;
  const isInserted = created.outcome === ReceivedMailOutcome.TICKET_CREATED;
  return toReceived(deps, mail, { ...created, isInserted }, created.outcome);
}

/** The message that has an external id of a mail, if it is part of its ticket, or the mail that has the id instead. */
async function findKnown(
  deps: InboundMailDeps,
  mail: IncomingMail,
  externalId: string,
  findThreadOnce: () => Promise<number | undefined>,
): Promise<MessageReference | OtherMail | undefined> {
  const [claimed] = await deps.messages.externalMessageIds.find([externalId]);
  if (!claimed) return undefined;
  const identity = mailIdentity(mail);
  let isSame = isSameMail(claimed, identity, undefined);
  // The ticket that it answers, which takes more reads, matters only if the claim is of another mailbox.
  if (isSame === false) isSame = isSameMail(claimed, identity, await findThreadOnce());
  if (isSame === false) return claimed.mail?.digest === identity.digest ? 'copy' : 'other';
  if (!(await isPartOfTicket(deps, claimed))) return undefined;
  const { ticketId, conversationId } = claimed;
  return isSame || (await isOfSender(deps, claimed, mail)) ? { ticketId, conversationId } : 'other';
}

/** A mail that was taken in, or undefined if the message that has its id is of another sender. */
async function toReceived(
  deps: InboundMailDeps,
  mail: IdentifiedMail,
  { ticketId, conversationId, isInserted }: Pick<AddedMessage, 'ticketId' | 'conversationId' | 'isInserted'>,
  outcome: ReceivedMailOutcome,
): Promise<ReceivedMail | undefined> {
  const isOwn = isInserted || (await isOfSender(deps, { ticketId, conversationId }, mail));
  return isOwn ? { ticketId, conversationId, outcome } : undefined;
}

/** Whether a message is of the sender of a mail: all that is known of one that was sent, recorded, or received earlier. */
function isOfSender(
  { tickets, messages }: InboundMailDeps,
  message: MessageReference,
  { mail }: IncomingMail,
): Promise<boolean> {
  return isSentBy({ tickets, conversations: messages.conversations }, message, mail.from);
}

/** The mail, once for each mailbox that has received it, or once without a mailbox. */
async function readIncoming(deps: InboundMailDeps, arrived: ArrivedMail): Promise<[IncomingMail, ...IncomingMail[]]> {
  const settings = await deps.settings();
  const mail = await readMail(deps, arrived);
  const now = secondsNow(deps.attachments.runtime);
  const returned =
    (await findReturned(deps, arrived.recipients ?? [])) ?? (await findReturned(deps, [...mail.to, ...mail.cc]));
  const programs = programRules(settings);
  const author = authorAddress(mail, programs.isOurs);
  const incoming = {
    mail,
    raw: arrived.raw,
    receivedAt: arrived.keepDate && mail.date !== null && mail.date >= 0 ? Math.min(mail.date, now) : now,
    returned,
    isProgrammatic: mail.report !== null || arrived.returnPath === '' || isProgrammatic(programs, mail.headers),
    author: author === mail.from ? null : author,
    isOfOurs: author !== null && programs.isOurs(author),
  };
  const [first = null, ...others] = await findSubchannels(deps, settings, { mail, returned }, arrived);
  return [{ ...incoming, subchannelId: first }, ...others.map((subchannelId) => ({ ...incoming, subchannelId }))];
}

async function findSubchannels(
  deps: InboundMailDeps,
  { subchannels }: TicketSettings,
  { mail, returned }: Pick<IncomingMail, 'mail' | 'returned'>,
  { subchannelId, recipients = [] }: ArrivedMail,
): Promise<number[]> {
  if (subchannelId === undefined) {
    const find = (addresses: readonly string[]) => {
      const isReturned = returned && addresses.includes(returned.address);
      const own = isReturned ? (returnedMailbox(returned, subchannels) ?? []) : [];
      return [...new Set([findMailboxes(addresses, subchannels), own].flat())];
    };
    const transferred = find(recipients);
    const found = transferred.length > 0 ? transferred : find([...mail.to, ...mail.cc]);
    return found.slice(0, mailLimits.mailboxes);
  }
  const violations = await findSubchannelViolations(deps.settings, [{ input: { subchannelId }, pointer: '#' }]);
  if (violations.length > 0) throw invalidInput(violations);
  return [subchannelId];
}

/** More hops than any mail needs (RFC 5321, section 6.3). */
const maxHops = 100;

/** Refuses mails that this system has sent, and those that circle between servers. */
function requireNotOurs({ ticketTokens }: InboundMailDeps, { headers }: ParsedMail): void {
  const ours = headers[ticketTokenHeader.toLowerCase()];
  const isOurs = [ours ?? []].flat().some((token) => ticketTokens.find(token) !== undefined);
  const hops = Array.isArray(headers.received) ? headers.received.length : 0;
  if (!isOurs && hops <= maxHops) return;
  const problem = isOurs ? 'This system has sent the mail itself.' : `The mail has more than ${maxHops} hops.`;
  throw new DomainError('failed_precondition', 'mail_loop', problem);
}

/**
 * Finds the ticket that a mail belongs to: the ticket of the nearest message that it replies to, else the one of the
 * token in its subject, else the one of the return address to which it was sent. Of a mail that two mailboxes have, the
 * message of the receiving mailbox counts. Deleted tickets are ignored.
 */
async function findThread(
  deps: InboundMailDeps,
  { mail, subchannelId, returned }: IncomingMail,
): Promise<number | undefined> {
  const ids = mail.answeredIds.flatMap((id) => [mailboxId(id, subchannelId), id]);
  const answered = ids.length === 0 ? [] : await deps.messages.externalMessageIds.find(ids);
  for (const message of answered) if (await isPartOfTicket(deps, message)) return message.ticketId;
  const ticketId = mail.subject === null ? undefined : deps.ticketTokens.find(mail.subject);
  if (ticketId !== undefined && (await deps.tickets.findMessages(ticketId))) return ticketId;
  return returned && (await isPartOfTicket(deps, returned)) ? returned.ticketId : undefined;
}

/** How many messages a ticket may get in an hour before those of programs are refused. */
export const maxMessagesBeforeLoop = 20;
const periodSeconds = 3600;

/**
 * Refuses a mail of a program to a ticket that has just got many messages: two programs may be answering each other.
 *
 * Errors: mail_loop. Source: docs/reference/api.md, Incoming mail.
 */
async function requireNoLoop(
  deps: InboundMailDeps,
  ticketId: number,
  { isProgrammatic, receivedAt }: IncomingMail,
): Promise<void> {
  const since = secondsNow(deps.attachments.runtime) - periodSeconds;
  if (!isProgrammatic || receivedAt < since) return;
  const received = await deps.messages.conversations.countReceived(ticketId, since, maxMessagesBeforeLoop);
  if (received < maxMessagesBeforeLoop) return;
  const detail = 'The ticket gets too many messages in an hour for one of a program.';
  throw new DomainError('failed_precondition', 'mail_loop', detail);
}
