import type { GetConfigurationResponse } from '@ticketing/contracts/ticketing/settings/v1/configuration_service_pb.ts';
import { knownSettings, settingsOf } from '@ticketing/service-kit/settings/known-settings.ts';
import type { Context } from '../application/context.ts';

/** Returns all settings but secrets, and all subchannels. Source: docs/reference/api.md, Settings. */
export async function getConfiguration(context: Context): Promise<GetConfigurationResponse> {
  const { version, values, subchannels } = await context.configuration.read();
  return {
    $typeName: 'ticketing.settings.v1.GetConfigurationResponse',
    configuration: {
      $typeName: 'ticketing.settings.v1.Configuration',
      version,
      // A value may be left of a setting that no longer exists.
      settings: settingsOf(Object.fromEntries(Object.entries(values).filter(([name]) => knownSettings.has(name)))),
      subchannels: subchannels.map(({ id, enabled, interface: name }) => ({
        $typeName: 'ticketing.settings.v1.ConfiguredSubchannel',
        id,
        enabled,
        interface: name,
      })),
    },
  };
}
