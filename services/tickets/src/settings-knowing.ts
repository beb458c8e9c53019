import type { Context } from './context.ts';
import type { TicketSettings } from './settings.ts';

/**
 * Reads settings that include the subchannels of some tickets or messages, unless these were deleted: another replica
 * may have accepted a subchannel that this process has not read yet.
 *
 * Errors: as of `Context.settings`.
 */
export async function settingsKnowing(
  { settings }: Pick<Context, 'settings'>,
  subchannelIds: readonly (number | null)[],
): Promise<TicketSettings> {
  const recent = await settings();
  const { subchannels } = recent;
  const isKnown = (id: number | null) => id === null || !subchannels || subchannels.has(id);
  return subchannelIds.every(isKnown) ? recent : settings('replicas');
}
