import type { Context } from './context.ts';
import type { TicketSettings } from './settings.ts';

/**
 * Reads the settings. They know the subchannels with some ids, which tickets or messages have, unless these were deleted:
 * another replica may have accepted one that this process has not read yet.
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
