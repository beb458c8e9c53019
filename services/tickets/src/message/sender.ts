import { DeliveryStatus, NotSentReason } from '@ticketing/contracts/ticketing/tickets/v1/conversation_pb.ts';
import { Direction } from '@ticketing/contracts/ticketing/tickets/v1/enums_pb.ts';
import { DomainError } from '@ticketing/errors/domain-error.ts';
import { type Runtime, secondsNow } from '@ticketing/runtime/runtime.ts';
import { timeOrderedId } from '@ticketing/runtime/time-ordered-id.ts';
import { type Caller, callerKey, isHuman } from '@ticketing/service-kit/identity/caller.ts';
import { mailThread } from '../rules/mail-thread.ts';
import { findReasonNotSent } from '../rules/sending.ts';
import { type ReadSettings, settingsKnowing } from '../settings.ts';
import type { Opening, WriteCall } from '../ticket/insert.ts';
import type { TicketState } from '../ticket/rules/fields.ts';
import { chooseMailSender, chooseSender } from '../ticket/rules/subchannels.ts';
import { type AddMessageDeps, newMail } from './add.ts';
import type { ConversationInput } from './rules/fields.ts';
import { newMessageId } from './rules/outgoing-mail.ts';
import { openingMessage } from './views.ts';

/** The fields of a message that say who sends it, and by which mailbox. */
type SenderFields = AuthorFields & Pick<ConversationInput, 'from' | 'fromName' | 'subchannelId'>;

type AuthorFields = Pick<ConversationInput, 'agentId' | 'authorKey' | 'isAutomatic'>;

/** The subchannels that may be the mailbox of a message, the best first: that of the message, and that of its ticket. */
type MessageSubchannels = readonly [ofMessage: number | null | undefined, ofTicket: number | null];

/** The sender of a message that a caller writes, who is its author, in a subchannel of the message or of its ticket. */
export async function messageSender(
  deps: { settings: ReadSettings },
  { caller }: WriteCall,
  [ofMessage = null, ofTicket]: MessageSubchannels,
): Promise<SenderFields> {
  const ids = [ofMessage, ofTicket];
  const { from, fromName } = chooseSender(await settingsKnowing(deps.settings, ids), ids);
  return { from, fromName, ...authorFields(caller), subchannelId: ofMessage ?? ofTicket };
}

/** The fields that say from where a mail leaves. */
type MailSender = Partial<Pick<ConversationInput, 'from' | 'fromName' | 'subchannelId'>>;

/** The sender of a mail: the mailbox of the message, of its ticket or the default one, else that of the installation. */
export async function findMailSender(
  { settings }: { settings: ReadSettings },
  [ofMessage = null, ofTicket]: MessageSubchannels,
): Promise<MailSender> {
  const ids = [ofMessage, ofTicket];
  const { mailboxId, ...sender } = chooseMailSender(await settingsKnowing(settings, ids), ids);
  return { ...sender, ...(mailboxId === null ? {} : { subchannelId: mailboxId }) };
}

function authorFields(caller: Caller): AuthorFields {
  const isPerson = isHuman(caller);
  return { agentId: isPerson ? caller.profileId : null, authorKey: callerKey(caller), isAutomatic: !isPerson };
}

/** Whether a message is sent, and the reason if it is not. */
type SendingFields = Pick<ConversationInput, 'deliveryStatus' | 'notSentReason'> &
  MailSender & { externalConversationId?: string };

/** The message whose sending is decided. */
interface MessageToSend {
  ticket: TicketState;
  subchannels: MessageSubchannels;
  recipients: Pick<ConversationInput, 'to' | 'cc' | 'bcc'>;
  /** Whether the request names recipients. */
  isNamed: boolean;
  /** Whether it is to be sent, and not only recorded. */
  isSent: boolean;
}

/**
 * The fields by which a message that is published now is sent as a mail, or which say why it is not.
 *
 * Errors: no_sender, if no mailbox has an address and the installation has no sender; settings_unavailable, if that cannot
 * be asked. Source: docs/reference/api.md, Outgoing mail.
 */
export async function sendingFields(
  deps: { runtime: Runtime; settings: ReadSettings },
  message: MessageToSend,
): Promise<SendingFields> {
  const fields = await planSending(deps, message);
  if (fields.notSentReason !== NotSentReason.NO_SENDER) return fields;
  const detail = 'Mails have no sender: give a mailbox an address, or set mailFrom.';
  throw new DomainError('failed_precondition', 'no_sender', detail);
}

async function planSending(
  { runtime, settings }: { runtime: Runtime; settings: ReadSettings },
  { ticket, subchannels, recipients, isNamed, isSent }: MessageToSend,
): Promise<SendingFields> {
  const reason = isSent ? findReasonNotSent(ticket, recipients, { isNamed }) : null;
  if (reason !== undefined) return { deliveryStatus: DeliveryStatus.NONE, notSentReason: reason };
  const known = await findMailSender({ settings }, subchannels);
  // Only the owner of the settings knows a mailbox that was made a moment ago.
  const sender = known.from ? known : await findMailSender({ settings: () => settings('owner') }, subchannels);
  if (!sender.from) return { deliveryStatus: DeliveryStatus.NONE, notSentReason: NotSentReason.NO_SENDER };
  return {
    ...sender,
    ...{ deliveryStatus: DeliveryStatus.QUEUED, notSentReason: null },
    externalConversationId: newMessageId(timeOrderedId('msg', runtime), sender.from),
  };
}

type OpeningMailDeps = Pick<AddMessageDeps, 'messages' | 'tickets' | 'runtime'> & { settings: ReadSettings };

/**
 * Decides whether the first message of a new ticket with direction out is sent. If it is, it is stored apart from the
 * ticket as a mail, unseen until the ticket is inserted with it; else the ticket says why it is not.
 *
 * Errors: settings_unavailable, if no sender is known and the owner of the settings cannot be asked. Source:
 * docs/reference/api.md, Outgoing mail.
 */
export async function openMail(deps: OpeningMailDeps, call: WriteCall, ticket: TicketState): Promise<Opening> {
  const { conversations, externalMessageIds } = deps.messages;
  const { direction, openingMessageId, subchannelId, createdAt } = ticket;
  if (direction !== Direction.OUT || openingMessageId === null) return { ticket };
  const subchannels: MessageSubchannels = [null, subchannelId];
  const sending = await planSending(deps, { ticket, subchannels, recipients: ticket, isNamed: true, isSent: true });
  if (sending.externalConversationId === undefined) {
    return { ticket: { ...ticket, openingNotSent: sending.notSentReason } };
  }
  // A mail is not dated in the future.
  const now = secondsNow(deps.runtime);
  const times = { createdAt: Math.min(createdAt ?? now, now) };
  const mail = { ...openingMessage(ticket), ...authorFields(call.caller), ...sending, ...times };
  const { id, ticketId } = mail;
  await conversations.insert(mail, await newMail(deps, mail, { ticket }));
  await externalMessageIds.claim(sending.externalConversationId, { ticketId, conversationId: id });
  return { conversationId: id, ticket: { ...ticket, lastMail: mailThread(sending.externalConversationId, []) } };
}
