import { DeliveryStatus } from '@ticketing/contracts/ticketing/tickets/v1/conversation_pb.ts';
import { Channel } from '@ticketing/contracts/ticketing/tickets/v1/enums_pb.ts';
import { DomainError } from '@ticketing/errors/domain-error.ts';
import { timeOrderedId } from '@ticketing/runtime/time-ordered-id.ts';
import { type Caller, callerKey, isHuman } from '@ticketing/service-kit/identity/caller.ts';
import type { ConversationInput } from '../domain/conversation.ts';
import { newMessageId } from '../domain/outgoing-mail.ts';
import { senderOf } from '../domain/reply.ts';
import type { MessageCall } from './add-message.ts';
import type { Context } from './context.ts';

/** The fields of a message that say who sends it, and by which mailbox. */
export type SenderFields = AuthorFields & Pick<ConversationInput, 'from' | 'fromName' | 'subchannelId'>;

type AuthorFields = Pick<ConversationInput, 'agentId' | 'authorKey' | 'isAutomatic'>;

/** The sender of a message that a caller writes: the mailbox with this id, and the caller as its author. */
export async function messageSender(
  context: Context,
  { caller }: MessageCall,
  subchannelId: number | null,
): Promise<SenderFields> {
  const { subchannels, mailFrom } = await context.settings();
  const subchannel = subchannelId === null ? undefined : subchannels?.get(subchannelId);
  return { ...senderOf(subchannel, mailFrom), ...authorFields(caller), subchannelId };
}

function authorFields(caller: Caller): AuthorFields {
  const isPerson = isHuman(caller);
  return { agentId: isPerson ? caller.profileId : null, authorKey: callerKey(caller), isAutomatic: !isPerson };
}

/**
 * The fields by which a message that is published now is sent as a mail, if the ticket is one of channel email.
 *
 * Errors: no_sender, if the mailbox has no address and the installation no sender.
 */
export function mailFields(
  { runtime }: Pick<Context, 'runtime'>,
  channel: Channel,
  from: string | null,
): Partial<Pick<ConversationInput, 'deliveryStatus' | 'externalConversationId'>> {
  if (channel !== Channel.EMAIL) return {};
  if (from === null) {
    const detail = 'Mails have no sender: give the mailbox an address, or set mailFrom.';
    throw new DomainError('failed_precondition', 'no_sender', detail);
  }
  return {
    deliveryStatus: DeliveryStatus.QUEUED,
    externalConversationId: newMessageId(timeOrderedId('msg', runtime), from),
  };
}
