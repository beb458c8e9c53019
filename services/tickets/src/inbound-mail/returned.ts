import type { ReturnedMessage } from './mail.ts';
import type { InboundMailDeps } from './to-ticket.ts';

/** Finds the message of the first of some addresses that is a signed return address. Errors: store_unavailable. */
export async function findReturned(
  { returnAddresses, messages }: Pick<InboundMailDeps, 'returnAddresses' | 'messages'>,
  addresses: readonly string[],
): Promise<ReturnedMessage | undefined> {
  const address = addresses.find((one) => returnAddresses.find(one) !== undefined);
  const conversationId = address === undefined ? undefined : returnAddresses.find(address);
  if (address === undefined || conversationId === undefined) return undefined;
  const message = await messages.conversations.findSender(conversationId);
  return message && { ...message, address, conversationId };
}
