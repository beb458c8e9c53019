import { Channel } from '@ticketing/contracts/ticketing/tickets/v1/enums_pb.ts';
import type { Violation } from '@ticketing/errors/domain-error.ts';
import type { ReadSettings, TicketSettings } from '../settings.ts';
import type { TicketInput } from './rules/fields.ts';
import { subchannelViolations } from './rules/subchannels.ts';

/** The input of an object in a request, and the pointer of the object. */
export interface PlacedInput {
  input: TicketInput;
  pointer: string;
}

/**
 * The violations in the subchannel that a request names for a message: as of `findSubchannelViolations`, and that of a
 * subchannel which is no mailbox, on a ticket of channel email.
 *
 * Errors: settings_unavailable, as of `findSubchannelViolations`.
 */
export async function findMailboxViolations(
  settings: ReadSettings,
  channel: Channel,
  subchannelId: number | undefined,
): Promise<Violation[]> {
  if (subchannelId === undefined) return [];
  const violations = await findSubchannelViolations(settings, [{ input: { subchannelId }, pointer: '#' }]);
  const { channel: inlet = channel } = (await settings()).subchannels?.get(subchannelId) ?? {};
  if (violations.length > 0 || channel !== Channel.EMAIL || inlet === Channel.EMAIL) return violations;
  return [{ pointer: '#/subchannelId', code: 'not_allowed', detail: 'is no mailbox' }];
}

/**
 * The violations in the subchannels that inputs set.
 *
 * Errors: settings_unavailable, if an input sets one that is not known, and the settings service does not respond.
 */
export async function findSubchannelViolations(
  settings: ReadSettings,
  inputs: readonly PlacedInput[],
): Promise<Violation[]> {
  const given = inputs.filter(({ input }) => (input.subchannelId ?? null) !== null);
  if (given.length === 0) return [];
  const violationsIn = ({ subchannels }: TicketSettings) =>
    given.flatMap(({ input, pointer }) => subchannelViolations(input, subchannels, pointer));
  const isAccepted = violationsIn(await settings()).length === 0;
  // Only the owner knows a subchannel that was made or enabled a moment ago.
  return isAccepted ? [] : violationsIn(await settings('owner'));
}
