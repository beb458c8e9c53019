import { DeliveryStatus } from '@ticketing/contracts/ticketing/tickets/v1/conversation_pb.ts';
import { Channel } from '@ticketing/contracts/ticketing/tickets/v1/enums_pb.ts';
import { DomainError } from '@ticketing/errors/domain-error.ts';
import type { Runtime } from '@ticketing/runtime/runtime.ts';
import { timeOrderedId } from '@ticketing/runtime/time-ordered-id.ts';
import { type Caller, callerKey, isHuman } from '@ticketing/service-kit/identity/caller.ts';
import { type ReadSettings, settingsKnowing, type TicketSettings } from '../settings.ts';
import type { MessageCall } from './add.ts';
import type { ConversationInput } from './rules/fields.ts';
import { newMessageId } from './rules/outgoing-mail.ts';
import { senderOf } from './rules/reply.ts';

/** The fields of a message that say who sends it, and by which mailbox. */
export type SenderFields = AuthorFields & Pick<ConversationInput, 'from' | 'fromName' | 'subchannelId'>;

type AuthorFields = Pick<ConversationInput, 'agentId' | 'authorKey' | 'isAutomatic'>;

/** The sender of a message that a caller writes: the mailbox with this id, and the caller as its author. */
export async function messageSender(
  deps: { settings: ReadSettings },
  { caller }: MessageCall,
  subchannelId: number | null,
): Promise<SenderFields> {
  const settings = await settingsKnowing(deps.settings, [subchannelId]);
  return { ...senderBy(settings, subchannelId), ...authorFields(caller), subchannelId };
}

function senderBy({ subchannels, mailFrom }: TicketSettings, subchannelId: number | null) {
  return senderOf(subchannelId === null ? undefined : subchannels?.get(subchannelId), mailFrom);
}

function authorFields(caller: Caller): AuthorFields {
  const isPerson = isHuman(caller);
  return { agentId: isPerson ? caller.profileId : null, authorKey: callerKey(caller), isAutomatic: !isPerson };
}

/** Asks the owner of the settings for a sender that this process does not know. Errors: settings_unavailable. */
export async function askSender({ settings }: { settings: ReadSettings }, sender: SenderFields): Promise<SenderFields> {
  return sender.from === null ? { ...sender, ...senderBy(await settings('owner'), sender.subchannelId) } : sender;
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
