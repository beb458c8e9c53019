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
import { ticketTokenHeader } from '../message/rules/outgoing-mail.ts';
import { findSubchannelViolations } from '../ticket/checks.ts';
import { isProgrammatic } from '../ticket/rules/spam.ts';
import { findMailbox } from '../ticket/rules/subchannels.ts';
import { ticketSubject } from '../ticket/store/document.ts';
import type { IncomingMail, MailCall, ParsedMail, ReceivedMail } from './mail.ts';
import { addMailToTicket, createTicketOfMail, type InboundMailDeps } from './to-ticket.ts';

/** Takes in an e-mail. Errors: those of `takeInMail`. Source: docs/reference/api.md, Incoming mail. */
export async function receiveMail(
  deps: InboundMailDeps,
  call: Call,
  { mail, subchannelId, keepDate = false }: ReceiveMailRequest,
): Promise<ReceiveMailResponse> {
  const received = await takeInMail(deps, call, {
    raw: mail,
    subchannelId,
    keepDate,
    sender: callerKey(call.caller),
  });
  call.idempotency?.addSubject(ticketSubject(received.ticketId));
  return { $typeName: 'ticketing.tickets.v1.ReceiveMailResponse', ...received };
}

/** A mail that has arrived. */
interface ArrivedMail {
  raw: Uint8Array;
  /** The mailbox that has received it; undefined to find it by the recipients. */
  subchannelId?: number | undefined;
  /** The recipients to which it was transferred, if known. */
  recipients?: readonly string[];
  /** Whether it counts as received at its `Date`. */
  keepDate: boolean;
  /** Names the sender, for a fair share of the work. */
  sender: string;
}

/**
 * Takes in a mail: as a message of the ticket that it replies to, else as a new ticket. The call may be repeated at any
 * time, even after a crash; the mail is taken in once. It is identified by its `Message-ID` if the message that has the
 * id is of the same sender, else by its bytes.
 *
 * Errors: invalid_mail, mail_too_large, mail_loop; unknown_subchannel, subchannel_disabled, settings_unavailable;
 * sandbox_busy, sandbox_crashed, store_unavailable, concurrent_change.
 * Source: docs/reference/api.md, Incoming mail.
 */
export async function takeInMail(deps: InboundMailDeps, call: MailCall, arrived: ArrivedMail): Promise<ReceivedMail> {
  const incoming = await readMail(deps, arrived);
  const { mail } = incoming;
  const { isInserted, ...received } = await takeIn(deps, call, incoming);
  if (isInserted || (await isSentBy({ ...deps.messages, ...deps }, received, mail.from))) return received;
  // Another sender has used its id before, which must not make the mail disappear.
  const { isInserted: _, ...other } = await takeIn(deps, call, { ...incoming, externalId: digestId(mail) });
  return other;
}

/** Takes in a mail under its external id, unless that is known. */
async function takeIn(
  deps: InboundMailDeps,
  call: MailCall,
  incoming: IncomingMail,
): Promise<ReceivedMail & Pick<AddedMessage, 'isInserted'>> {
  const known = await deps.writer.findKnown(incoming.externalId);
  if (known) return { ...known, outcome: ReceivedMailOutcome.ALREADY_KNOWN, isInserted: false };
  requireNotOurs(deps, incoming.mail);
  const ticketId = await findThread(deps, incoming.mail);
  if (ticketId !== undefined) {
    await requireNoLoop(deps, ticketId, incoming);
    const added = await addMailToTicket(deps, call, ticketId, incoming);
    if (added) return { ...added, outcome: ReceivedMailOutcome.MESSAGE_ADDED };
  }
  const created = await createTicketOfMail(deps, call, incoming);
  return { ...created, isInserted: created.outcome === ReceivedMailOutcome.TICKET_CREATED };
}

/** The external id of a mail that is known by its bytes. */
function digestId({ digest }: ParsedMail): string {
  return `sha256:${digest}`;
}

async function readMail(deps: InboundMailDeps, arrived: ArrivedMail): Promise<IncomingMail> {
  const mail = await deps.mailReader.read(arrived.sender, arrived.raw);
  if ('problem' in mail) {
    throw new DomainError('invalid_argument', mail.isTooLarge ? 'mail_too_large' : 'invalid_mail', mail.problem);
  }
  const now = secondsNow(deps.attachments.runtime);
  const { headerRules } = await deps.settings();
  return {
    mail,
    externalId: mail.messageId ?? digestId(mail),
    subchannelId: await findSubchannel(deps, mail, arrived),
    receivedAt: arrived.keepDate && mail.date !== null && mail.date >= 0 ? Math.min(mail.date, now) : now,
    isProgrammatic: isProgrammatic(headerRules, mail.headers),
  };
}

async function findSubchannel(
  deps: InboundMailDeps,
  mail: ParsedMail,
  { subchannelId, recipients = [] }: ArrivedMail,
): Promise<number | null> {
  if (subchannelId === undefined) {
    const { subchannels } = await deps.settings();
    return findMailbox([...recipients, ...mail.to, ...mail.cc], subchannels) ?? null;
  }
  const violations = await findSubchannelViolations(deps.settings, [{ input: { subchannelId }, pointer: '#' }]);
  if (violations.length > 0) throw invalidInput(violations);
  return subchannelId;
}

/** More hops than any mail needs (RFC 5321, section 6.3). */
const maxHops = 100;

/** Refuses mails that this system has sent, and those that circle between servers. */
function requireNotOurs({ ticketTokens }: InboundMailDeps, { headers }: ParsedMail): void {
  const ours = headers[ticketTokenHeader.toLowerCase()];
  const isOurs = typeof ours === 'string' && ticketTokens.find(ours) !== undefined;
  const hops = Array.isArray(headers.received) ? headers.received.length : 0;
  if (!isOurs && hops <= maxHops) return;
  const problem = isOurs ? 'This system has sent the mail itself.' : `The mail has more than ${maxHops} hops.`;
  throw new DomainError('failed_precondition', 'mail_loop', problem);
}

/**
 * Finds the ticket that a mail belongs to: the ticket of the nearest message that it replies to, else the one of the
 * token in its subject. Deleted tickets are ignored.
 */
async function findThread(deps: InboundMailDeps, mail: ParsedMail): Promise<number | undefined> {
  const answered = mail.answeredIds.length === 0 ? [] : await deps.messages.externalMessageIds.find(mail.answeredIds);
  for (const message of answered) if (await isPartOfTicket(deps, message)) return message.ticketId;
  const ticketId = mail.subject === null ? undefined : deps.ticketTokens.find(mail.subject);
  return ticketId !== undefined && (await deps.tickets.findMessages(ticketId)) ? ticketId : undefined;
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
