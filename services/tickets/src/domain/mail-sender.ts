import type { MailSender } from './outgoing-mail.ts';
import type { Subchannels } from './subchannels.ts';

/** The settings that decide who sends a mail. */
export interface SenderSettings {
  mailFrom: string | null;
  subchannels: Subchannels;
}

/**
 * The mailbox that sends a mail: that of the subchannel, or the setting `mailFrom` if the subchannel has no address.
 * Undefined if there is neither.
 *
 * Source: docs/reference/api.md, Outgoing mail.
 */
export function mailSender(
  { subchannelId, fromName }: { subchannelId: number | null; fromName: string | null },
  { mailFrom, subchannels }: SenderSettings,
): MailSender | undefined {
  const subchannel = subchannelId === null ? undefined : subchannels?.get(subchannelId);
  const address = subchannel?.address || mailFrom;
  return address ? { address, name: fromName ?? subchannel?.name ?? null } : undefined;
}
