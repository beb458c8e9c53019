import { Channel, Direction } from '@ticketing/contracts/ticketing/tickets/v1/enums_pb.ts';
import type { Runtime } from '@ticketing/runtime/runtime.ts';
import { type ReadSettings, settingsKnowing } from '../settings.ts';
import type { TicketState } from '../ticket/rules/fields.ts';
import { type MessageCall, type MessageStores, newMail } from './add.ts';
import { askSender, mailFields, messageSender } from './sender.ts';
import { openingMessage } from './views.ts';

/** The dependencies of `storeOpeningMail`. */
export interface OpeningMailDeps {
  messages: MessageStores;
  settings: ReadSettings;
  runtime: Runtime;
}

/**
 * Stores the first message of a new ticket apart from it if it is to be sent as a mail: on a ticket of channel email with
 * direction out and recipients, if its mailbox is enabled. The message is unseen until the ticket is inserted with it.
 * Returns the ids of the messages with which the ticket begins.
 *
 * Source: docs/reference/api.md, Outgoing mail.
 */
export async function storeOpeningMail(
  deps: OpeningMailDeps,
  call: MessageCall,
  ticket: TicketState,
): Promise<number[]> {
  const { conversations, externalMessageIds } = deps.messages;
  if (!(await isSent(deps, ticket))) return [];
  const sender = await askSender(deps, await messageSender(deps, call, ticket.subchannelId));
  // Without a sender there is no mail; the ticket is recorded all the same.
  if (sender.from === null) return [];
  const message = { ...openingMessage(ticket), ...sender, ...(await mailFields(deps, ticket.channel, sender)) };
  const { id, ticketId, externalConversationId } = message;
  await conversations.insert(message, await newMail(deps.messages, message));
  if (externalConversationId !== null) {
    await externalMessageIds.claim(externalConversationId, { ticketId, conversationId: id });
  }
  return [id];
}

async function isSent({ settings }: OpeningMailDeps, ticket: TicketState): Promise<boolean> {
  const { channel, direction, subchannelId, openingMessageId, to, cc, bcc } = ticket;
  if (channel !== Channel.EMAIL || direction !== Direction.OUT || openingMessageId === null) return false;
  if (subchannelId === null || to.length + cc.length + bcc.length === 0) return false;
  const { subchannels } = await settingsKnowing(settings, [subchannelId]);
  const subchannel = subchannels?.get(subchannelId);
  return subchannel?.enabled === true && subchannel.channel === Channel.EMAIL;
}
