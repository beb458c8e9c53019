import type {
  ConfiguredSubchannel,
  GetConfigurationResponse,
} from '@ticketing/contracts/ticketing/settings/v1/configuration_service_pb.ts';
import type { Call } from '@ticketing/service-kit/call/call.ts';
import { type SettingValues, toSettings } from '@ticketing/service-kit/settings/known-settings.ts';
import type { SettingParts } from './open.ts';
import type { SubchannelState } from './rules/settings.ts';

/** Returns all settings but secrets, and all subchannels. Source: docs/reference/api.md, Settings. */
export async function getConfiguration({ settings }: SettingParts, call: Call): Promise<GetConfigurationResponse> {
  const { version, values, subchannels } = await settings.read();
  return {
    $typeName: 'ticketing.settings.v1.GetConfigurationResponse',
    configuration: {
      $typeName: 'ticketing.settings.v1.Configuration',
      version,
      settings: toSettings(acceptedValues(values, call)),
      subchannels: subchannels.map(toConfiguredSubchannel),
    },
  };
}

function toConfiguredSubchannel(subchannel: SubchannelState): ConfiguredSubchannel {
  const { id, enabled, interface: inlet, channel, name, isDefault, data, emailTemplateId } = subchannel;
  return {
    $typeName: 'ticketing.settings.v1.ConfiguredSubchannel',
    id,
    enabled,
    interface: inlet,
    channel,
    name,
    isDefault,
    ...(typeof data.address === 'string' ? { address: data.address } : {}),
    ...(emailTemplateId === null ? {} : { emailTemplateId }),
  };
}

/** Returns the values that this version accepts. A stored value may be of a removed setting, or no longer valid. */
function acceptedValues(values: SettingValues, { log }: Call): SettingValues {
  const accepted = Object.entries(values).filter(([name, value]) => {
    try {
      toSettings({ [name]: value });
      return true;
    } catch (error) {
      log.warn({ err: error, setting: name }, 'a stored setting is not accepted; its default applies');
      return false;
    }
  });
  return Object.fromEntries(accepted);
}
