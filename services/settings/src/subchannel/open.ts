import type { Database } from '@ticketing/store/connection/database.ts';
import { type IdSequence, idSequence } from '@ticketing/store/ids/id-sequence.ts';
import type { SettingParts } from '../setting/open.ts';

/** The dependencies of the handlers of subchannels, which are stored with the settings. */
export interface SubchannelParts extends Pick<SettingParts, 'settings' | 'secretBox' | 'emailTemplates' | 'newEvent'> {
  subchannelIds: IdSequence;
  /** Finds the webhook endpoint that names a subchannel; undefined if none does. */
  findEndpoint(subchannelId: number): Promise<number | undefined>;
}

/** Opens the subchannels on a database. */
export function openSubchannels(
  { connection }: Pick<Database, 'connection'>,
  { settings, secretBox, emailTemplates, newEvent }: SettingParts,
  findEndpoint: SubchannelParts['findEndpoint'],
): SubchannelParts {
  const subchannelIds = idSequence(connection, 'subchannel');
  return { settings, secretBox, emailTemplates, newEvent, subchannelIds, findEndpoint };
}
