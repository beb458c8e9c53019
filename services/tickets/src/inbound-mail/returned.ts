import { isMailbox, type Subchannels } from '../ticket/rules/subchannels.ts';
import type { ReturnedMessage } from './mail.ts';
import type { InboundMailDeps } from './to-ticket.ts';

/** Finds the message of the first of some addresses that is a signed return address. Errors: store_unavailable. */
export async function findReturned(
  { returnAddresses, messages }: Pick<InboundMailDeps, 'returnAddresses' | 'messages'>,
  addresses: readonly string[],
): Promise<ReturnedMessage | undefined> {
  for (const address of addresses) {
    const conversationId = returnAddresses.find(address);
    if (conversationId === undefined) continue;
    const message = await messages.conversations.findSender(conversationId);
    return message && { ...message, address, conversationId };
  }
  return undefined;
}

/** The mailbox that takes in the mails to the return address of a message: that from which it was sent, if enabled. */
export function returnedMailbox(returned: ReturnedMessage | undefined, subchannels: Subchannels): number | undefined {
  return returned && isMailbox(returned.subchannelId, subchannels) ? returned.subchannelId : undefined;
}
