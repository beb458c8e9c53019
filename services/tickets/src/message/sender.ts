import { DeliveryStatus } from '@ticketing/contracts/ticketing/tickets/v1/conversation_pb.ts';
import { Channel, Direction } from '@ticketing/contracts/ticketing/tickets/v1/enums_pb.ts';
import { DomainError } from '@ticketing/errors/domain-error.ts';
import type { Runtime } from '@ticketing/runtime/runtime.ts';
import { timeOrderedId } from '@ticketing/runtime/time-ordered-id.ts';
import { type Caller, callerKey, isHuman } from '@ticketing/service-kit/identity/caller.ts';
import { mailThread } from '../rules/mail-thread.ts';
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

/** The sender of a message that a caller writes: the mailbox with this id, and the caller as its author. */
export async function messageSender(
  deps: { settings: ReadSettings },
  { caller }: WriteCall,
  subchannelId: number | null,
): Promise<SenderFields> {
  const settings = await settingsKnowing(deps.settings, [subchannelId]);
  return { ...chooseSender(settings, subchannelId), ...authorFields(caller), subchannelId };
}

function authorFields(caller: Caller): AuthorFields {
  const isPerson = isHuman(caller);
  return { agentId: isPerson ? caller.profileId : null, authorKey: callerKey(caller), isAutomatic: !isPerson };
}

/** Asks the owner of the settings for a sender that this process does not know. Errors: settings_unavailable. */
async function askSender({ settings }: { settings: ReadSettings }, sender: SenderFields): Promise<SenderFields> {
  return sender.from === null ? { ...sender, ...chooseSender(await settings('owner'), sender.subchannelId) } : sender;
}

/**
 * The fields by which a message that is published now is sent as a mail, if the ticket is one of channel email.
 *
 * Errors: no_sender, if the mailbox has no address and the installation no sender; settings_unavailable, if that cannot be asked.
 */
export async function mailFields(
  deps: { runtime: Runtime; settings: ReadSettings },
  channel: Channel,
  sender: SenderFields,
): Promise<Partial<Pick<ConversationInput, 'from' | 'fromName' | 'deliveryStatus' | 'externalConversationId'>>> {
  if (channel !== Channel.EMAIL) return {};
  const { from, fromName } = await askSender(deps, sender);
  if (from === null) {
    const detail = 'Mails have no sender: give the mailbox an address, or set mailFrom.';
    throw new DomainError('failed_precondition', 'no_sender', detail);
  }
  return {
    ...{ from, fromName, deliveryStatus: DeliveryStatus.QUEUED },
    externalConversationId: newMessageId(timeOrderedId('msg', deps.runtime), from),
  };
}

type OpeningMailDeps = Pick<AddMessageDeps, 'messages' | 'tickets' | 'runtime'> & { settings: ReadSettings };

/**
 * Stores the first message of a new ticket apart from it if it is to be sent as a mail: on a ticket of channel email with
 * direction out and recipients, if its mailbox is enabled. The message is unseen until the ticket is inserted with it.
 *
 * Source: docs/reference/api.md, Outgoing mail.
 */
export async function storeOpeningMail(
  deps: OpeningMailDeps,
  call: WriteCall,
  ticket: TicketState,
): Promise<OpeningMail | undefined> {
  const { conversations, externalMessageIds } = deps.messages;
  if (!(await isSent(deps, ticket))) return undefined;
  const sender = await askSender(deps, await messageSender(deps, call, ticket.subchannelId));
  // Without a sender there is no mail; the ticket is recorded all the same.
  if (sender.from === null) return undefined;
  const message = { ...openingMessage(ticket), ...sender, ...(await mailFields(deps, ticket.channel, sender)) };
  const { id, ticketId, externalConversationId } = message;
  await conversations.insert(message, await newMail(deps, message, { ticket }));
  if (externalConversationId !== null) {
    await externalMessageIds.claim(externalConversationId, { ticketId, conversationId: id });
  }
  return { conversationId: id, ticket: { ...ticket, lastMail: mailThread(externalConversationId, []) } };
}

async function isSent({ settings }: OpeningMailDeps, ticket: TicketState): Promise<boolean> {
  const { channel, direction, subchannelId, openingMessageId, to, cc, bcc } = ticket;
  if (channel !== Channel.EMAIL || direction !== Direction.OUT || openingMessageId === null) return false;
  if (subchannelId === null || to.length + cc.length + bcc.length === 0) return false;
  const { subchannels } = await settingsKnowing(settings, [subchannelId]);
  const subchannel = subchannels?.get(subchannelId);
  return subchannel?.enabled === true && subchannel.channel === Channel.EMAIL;
}
