import { DeliveryStatus, NotSentReason } from '@ticketing/contracts/ticketing/tickets/v1/conversation_pb.ts';
import { type Channel, Direction } from '@ticketing/contracts/ticketing/tickets/v1/enums_pb.ts';
import { DomainError } from '@ticketing/errors/domain-error.ts';
import type { Runtime } from '@ticketing/runtime/runtime.ts';
import { timeOrderedId } from '@ticketing/runtime/time-ordered-id.ts';
import { type Caller, callerKey, isHuman } from '@ticketing/service-kit/identity/caller.ts';
import { mailThread } from '../rules/mail-thread.ts';
import { findReasonNotSent } from '../rules/sending.ts';
import { type ReadSettings, settingsKnowing } from '../settings.ts';
import type { OpeningMail, WriteCall } from '../ticket/insert.ts';
import type { TicketState } from '../ticket/rules/fields.ts';
import { type AddMessageDeps, newMail } from './add.ts';
import type { ConversationInput } from './rules/fields.ts';
import { newMessageId } from './rules/outgoing-mail.ts';
import { chooseSender } from './rules/reply.ts';
import { openingMessage } from './views.ts';

/** The fields of a message that say who sends it, and by which mailbox. */
type SenderFields = AuthorFields & Pick<ConversationInput, 'from' | 'fromName' | 'subchannelId'>;

type AuthorFields = Pick<ConversationInput, 'agentId' | 'authorKey' | 'isAutomatic'>;

/** The subchannels of a message that may be its mailbox, the best first: its own, and that of its ticket. */
type OwnSubchannels = readonly [own: number | null | undefined, ofTicket: number | null];

/** The sender of a message that a caller writes, in a subchannel of its own or in that of its ticket; the caller is its author. */
export async function messageSender(
  deps: { settings: ReadSettings },
  { caller }: WriteCall,
  [own = null, ofTicket]: OwnSubchannels,
): Promise<SenderFields> {
  const ids = [own, ofTicket];
  const { from, fromName } = chooseSender(await settingsKnowing(deps.settings, ids), ids);
  return { from, fromName, ...authorFields(caller), subchannelId: own ?? ofTicket };
}

function authorFields(caller: Caller): AuthorFields {
  const isPerson = isHuman(caller);
  return { agentId: isPerson ? caller.profileId : null, authorKey: callerKey(caller), isAutomatic: !isPerson };
}

/** Whether a message is sent, and the reason if it is not. */
type SendingFields = Pick<ConversationInput, 'deliveryStatus' | 'notSentReason'> &
  Partial<Pick<ConversationInput, 'from' | 'fromName' | 'subchannelId' | 'externalConversationId'>>;

/** A message that is published now. */
interface Published {
  channel: Channel;
  subchannels: OwnSubchannels;
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
  message: Published,
): Promise<SendingFields> {
  const fields = await planSending(deps, message);
  if (fields.notSentReason !== NotSentReason.NO_SENDER) return fields;
  const detail = 'Mails have no sender: give a mailbox an address, or set mailFrom.';
  throw new DomainError('failed_precondition', 'no_sender', detail);
}

async function planSending(
  { runtime, settings }: { runtime: Runtime; settings: ReadSettings },
  { channel, subchannels: [own = null, ofTicket], recipients, isNamed, isSent }: Published,
): Promise<SendingFields> {
  const reason = isSent ? findReasonNotSent(channel, recipients, { isNamed }) : null;
  if (reason !== undefined) return { deliveryStatus: DeliveryStatus.NONE, notSentReason: reason };
  const ids = [own, ofTicket];
  const known = chooseSender(await settingsKnowing(settings, ids), ids);
  // Only the owner of the settings knows a mailbox that was made a moment ago.
  const { mailboxId, ...sender } = known.from === null ? chooseSender(await settings('owner'), ids) : known;
  if (sender.from === null) return { deliveryStatus: DeliveryStatus.NONE, notSentReason: NotSentReason.NO_SENDER };
  return {
    ...sender,
    ...(mailboxId === null ? {} : { subchannelId: mailboxId }),
    ...{ deliveryStatus: DeliveryStatus.QUEUED, notSentReason: null },
    externalConversationId: newMessageId(timeOrderedId('msg', runtime), sender.from),
  };
}

type OpeningMailDeps = Pick<AddMessageDeps, 'messages' | 'tickets' | 'runtime'> & { settings: ReadSettings };

/**
 * Stores the first message of a new ticket apart from it if its direction is out: it is sent as a mail, or says why it is
 * not. The message is unseen until the ticket is inserted with it.
 *
 * Errors: settings_unavailable, if the sender cannot be asked. Source: docs/reference/api.md, Outgoing mail.
 */
export async function storeOpeningMail(
  deps: OpeningMailDeps,
  call: WriteCall,
  ticket: TicketState,
): Promise<OpeningMail | undefined> {
  const { conversations, externalMessageIds } = deps.messages;
  const { channel, direction, openingMessageId, subchannelId } = ticket;
  if (direction !== Direction.OUT || openingMessageId === null) return undefined;
  const subchannels: OwnSubchannels = [null, subchannelId];
  const message = {
    ...openingMessage(ticket),
    ...authorFields(call.caller),
    // The ticket is recorded even if no mail can be sent.
    ...(await planSending(deps, { channel, subchannels, recipients: ticket, isNamed: true, isSent: true })),
  };
  const { id, ticketId, externalConversationId } = message;
  await conversations.insert(message, await newMail(deps, message, { ticket }));
  if (externalConversationId === null) return { conversationId: id, ticket };
  await externalMessageIds.claim(externalConversationId, { ticketId, conversationId: id });
  return { conversationId: id, ticket: { ...ticket, lastMail: mailThread(externalConversationId, []) } };
}
