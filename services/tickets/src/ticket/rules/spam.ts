import { SpamStatus } from '@ticketing/contracts/ticketing/tickets/v1/enums_pb.ts';

/** The statuses that exclude a ticket from routing. Source: docs/reference/api.md, Spam. */
export const spamStatuses: readonly SpamStatus[] = [
  SpamStatus.AUTO_SPAM,
  SpamStatus.AUTO_PROGRAMMATIC,
  SpamStatus.MANUAL_SPAM,
];

/** Whether a status marks a ticket as spam; unset does not. */
export function isSpam(status: SpamStatus | null): boolean {
  return status !== null && spamStatuses.includes(status);
}

/** Whether a status may be set by a request. */
export function isManual(status: SpamStatus): boolean {
  return status === SpamStatus.MANUAL_SPAM || status === SpamStatus.MANUAL_CLEAN;
}

/** Whether a ticket is spam by its status, or at run time by its tags. */
export function countsAsSpam(
  { spamStatus, tagIds }: { spamStatus: SpamStatus | null; tagIds: readonly number[] },
  spamTagId: number | null,
): boolean {
  return isSpam(spamStatus) || (spamTagId !== null && tagIds.includes(spamTagId));
}
