import { ReceivedMailOutcome } from '@ticketing/contracts/ticketing/tickets/v1/mail_service_pb.ts';
import { DomainError, invalidInput } from '@ticketing/errors/domain-error.ts';
import type { Context } from '../context.ts';
import type { AddedMessage } from '../message/add.ts';
import { findKnownMessage, isSentBy } from '../message/find-known.ts';
import { ticketTokenHeader } from '../message/rules/ticket-token.ts';
import { findSubchannelViolations } from '../ticket/find-subchannel-violations.ts';
import { mailboxOf } from '../ticket/rules/mailbox.ts';
import { isProgrammatic } from '../ticket/rules/programmatic.ts';
import { addMailToTicket } from './add-to-ticket.ts';
import { createTicketOfMail } from './create-ticket.ts';
import { findThread } from './find-thread.ts';
import type { IncomingMail, MailCall, ReceivedMail } from './incoming-mail.ts';
import type { ParsedMail } from './mail.ts';
import { requireNoLoop } from './require-no-loop.ts';

/** A mail that has arrived. */
export interface ArrivedMail {
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
export async function receiveMail(context: Context, call: MailCall, arrived: ArrivedMail): Promise<ReceivedMail> {
  const incoming = await readMail(context, arrived);
  const { mail } = incoming;
  const { isInserted, ...received } = await takeIn(context, call, incoming);
  if (isInserted || (await isSentBy(context, received, mail.from))) return received;
  // Another sender has used its id before, which must not make the mail disappear.
  const { isInserted: _, ...other } = await takeIn(context, call, { ...incoming, externalId: digestId(mail) });
  return other;
}

/** Takes in a mail under its external id, unless that is known. */
async function takeIn(
  context: Context,
  call: MailCall,
  incoming: IncomingMail,
): Promise<ReceivedMail & Pick<AddedMessage, 'isInserted'>> {
  const known = await findKnownMessage(context, incoming.externalId);
  if (known) return { ...known, outcome: ReceivedMailOutcome.ALREADY_KNOWN, isInserted: false };
  requireNotOurs(context, incoming.mail);
  const ticketId = await findThread(context, incoming.mail);
  if (ticketId !== undefined) {
    await requireNoLoop(context, ticketId, incoming);
    const added = await addMailToTicket(context, call, ticketId, incoming);
    if (added) return { ...added, outcome: ReceivedMailOutcome.MESSAGE_ADDED };
  }
  const created = await createTicketOfMail(context, call, incoming);
  return { ...created, isInserted: created.outcome === ReceivedMailOutcome.TICKET_CREATED };
}

/** The external id of a mail that is known by its bytes. */
function digestId({ digest }: ParsedMail): string {
  return `sha256:${digest}`;
}

async function readMail(context: Context, arrived: ArrivedMail): Promise<IncomingMail> {
  const mail = await context.mailReader.read(arrived.sender, arrived.raw);
  if ('problem' in mail) {
    throw new DomainError('invalid_argument', mail.isTooLarge ? 'mail_too_large' : 'invalid_mail', mail.problem);
  }
  const now = context.now();
  const { headerRules } = await context.settings();
  return {
    mail,
    externalId: mail.messageId ?? digestId(mail),
    subchannelId: await subchannelOf(context, mail, arrived),
    receivedAt: arrived.keepDate && mail.date !== null && mail.date >= 0 ? Math.min(mail.date, now) : now,
    isProgrammatic: isProgrammatic(headerRules, mail.headers),
  };
}

async function subchannelOf(
  context: Context,
  mail: ParsedMail,
  { subchannelId, recipients = [] }: ArrivedMail,
): Promise<number | null> {
  if (subchannelId === undefined) {
    const { subchannels } = await context.settings();
    return mailboxOf([...recipients, ...mail.to, ...mail.cc], subchannels) ?? null;
  }
  const violations = await findSubchannelViolations(context, [{ input: { subchannelId }, pointer: '#' }]);
  if (violations.length > 0) throw invalidInput(violations);
  return subchannelId;
}

/** More hops than any mail needs (RFC 5321, section 6.3). */
const maxHops = 100;

/** Refuses mails that this system has sent, and those that circle between servers. */
function requireNotOurs({ ticketTokens }: Context, { headers }: ParsedMail): void {
  const ours = headers[ticketTokenHeader.toLowerCase()];
  const isOurs = typeof ours === 'string' && ticketTokens.find(ours) !== undefined;
  const hops = Array.isArray(headers.received) ? headers.received.length : 0;
  if (!isOurs && hops <= maxHops) return;
  const problem = isOurs ? 'This system has sent the mail itself.' : `The mail has more than ${maxHops} hops.`;
  throw new DomainError('failed_precondition', 'mail_loop', problem);
}
