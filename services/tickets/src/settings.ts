import { toJson } from '@bufbuild/protobuf';
import { type Value, ValueSchema } from '@bufbuild/protobuf/wkt';
import type { Configuration } from '@ticketing/contracts/ticketing/settings/v1/configuration_service_pb.ts';
import { RoutingOrder as ConfiguredOrder, ErpAdapter } from '@ticketing/contracts/ticketing/settings/v1/settings_pb.ts';
import { type FileSettings, readFileSettings } from '@ticketing/files/file-quota.ts';
import { defaultConfiguration, type SettingsAge } from '@ticketing/service-kit/settings/settings-copy.ts';
import { type BusinessTime, businessTime } from './ticket/rules/business-time.ts';
import type { RoutingOrder } from './ticket/rules/queue-keys.ts';
import { type HeaderRules, readHeaderRules } from './ticket/rules/spam.ts';
import type { Subchannels } from './ticket/rules/subchannels.ts';

/** The settings that this service reads. */
export interface TicketSettings extends FileSettings {
  /** Whether a ticket without an agent is assigned to the person who creates it. */
  lastAgentRouting: boolean;
  /** The tag that hides a ticket from the queue and from the skills scope, without a change of its `spamStatus`. */
  spamDetectionTagId: number | null;
  /** The order of the queue. */
  routingOrder: RoutingOrder;
  /** The headers by which a message shows that a program has sent it. */
  headerRules: HeaderRules;
  subchannels: Subchannels;
  /** The sender of mails whose subchannel has no address. */
  mailFrom: string | null;
  /** The e-mail template around messages of a subchannel that names none. */
  genericTemplateId: number | null;
  /** For how many days raw mails are kept; 0 for none. */
  rawMailDays: number;
  /** Whether the texts of received mails carry their images themselves. */
  embedMailImages: boolean;
  /** Whether a message that was not delivered opens its ticket. */
  reopenOnDeliveryFailure: boolean;
  /** The form of signed return addresses; null without them. */
  returnAddress: string | null;
  /** The country whose telephone numbers are written without its code. */
  defaultCountry: string | null;
  /** The time that SLAs are measured in. */
  businessTime: BusinessTime;
  /** The ERP system from which customers and contracts are read. */
  erpAdapter: 'embedded' | 'http';
  erpBaseUrl: string | null;
  /** The version of the configuration, which rises with each change, also of a secret. */
  version: number;
}

/**
 * Reads the settings: those of this process, which may be a second old, or newer ones.
 *
 * Errors: settings_unavailable, with an age.
 */
export type ReadSettings = (age?: SettingsAge) => Promise<TicketSettings>;

/**
 * Reads settings that include the subchannels of some tickets or messages, unless these were deleted: another replica
 * may have accepted a subchannel that this process has not read yet.
 *
 * Errors: those of `settings`.
 */
export async function settingsKnowing(
  settings: ReadSettings,
  subchannelIds: readonly (number | null)[],
): Promise<TicketSettings> {
  const recent = await settings();
  const { subchannels } = recent;
  const isKnown = (id: number | null) => id === null || !subchannels || subchannels.has(id);
  return subchannelIds.every(isKnown) ? recent : settings('replicas');
}

const orders = new Map<ConfiguredOrder, RoutingOrder>([
  [ConfiguredOrder.SLA, 'sla'],
  [ConfiguredOrder.PRIORITY_SLA, 'prioritySla'],
  [ConfiguredOrder.PRIORITY_NEWEST, 'priorityNewest'],
  [ConfiguredOrder.PRIORITY_OLDEST, 'priorityOldest'],
]);

const businessTimes = new WeakMap<Value, BusinessTime>();

/** The business time of a setting `businessHours`. It caches weeks, so it is made once for each configuration. */
function toBusinessTime(setting: Value | undefined): BusinessTime {
  if (setting === undefined) return businessTime(undefined);
  const time = businessTimes.get(setting) ?? businessTime(toJson(ValueSchema, setting));
  businessTimes.set(setting, time);
  return time;
}

/** Picks the settings that this service reads. */
export function readSettings(configuration: Configuration): TicketSettings {
  const { settings, subchannels } = configuration;
  return {
    lastAgentRouting: settings?.lastAgentRouting ?? false,
    spamDetectionTagId: settings?.spamDetectionTagId ?? null,
    routingOrder: orders.get(settings?.routingOrder ?? ConfiguredOrder.SLA) ?? 'sla',
    headerRules: toHeaderRules(settings?.programmaticHeaderRules),
    subchannels: configuration === defaultConfiguration ? undefined : new Map(subchannels.map((one) => [one.id, one])),
    mailFrom: settings?.mailFrom ?? null,
    genericTemplateId: settings?.genericTemplateId ?? null,
    rawMailDays: settings?.rawMailDays ?? defaultConfiguration.settings?.rawMailDays ?? 0,
    embedMailImages: settings?.embedMailImages ?? false,
    reopenOnDeliveryFailure: settings?.reopenOnDeliveryFailure ?? true,
    returnAddress: settings?.returnAddress ?? null,
    defaultCountry: settings?.defaultCountry ?? null,
    businessTime: toBusinessTime(settings?.businessHours),
    erpAdapter: settings?.erpAdapter === ErpAdapter.HTTP ? 'http' : 'embedded',
    erpBaseUrl: settings?.erpBaseUrl ?? null,
    ...readFileSettings(configuration),
    version: configuration.version,
  };
}

const headerRules = new WeakMap<Value, HeaderRules>();

/** The rules are read once: the settings are read for each request. */
function toHeaderRules(setting: Value | undefined): HeaderRules {
  const known = setting && headerRules.get(setting);
  if (known) return known;
  const rules = readHeaderRules(setting && toJson(ValueSchema, setting));
  if (setting) headerRules.set(setting, rules);
  return rules;
}

export const defaultSettings: TicketSettings = readSettings(defaultConfiguration);
