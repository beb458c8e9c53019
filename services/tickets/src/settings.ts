import type { Configuration } from '@ticketing/contracts/ticketing/settings/v1/configuration_service_pb.ts';
import { RoutingOrder as ConfiguredOrder, ErpAdapter } from '@ticketing/contracts/ticketing/settings/v1/settings_pb.ts';
import { defaultConfiguration } from '@ticketing/service-kit/settings/configuration-copy.ts';
import type { RoutingOrder } from './domain/queue-order.ts';
import type { Subchannels } from './domain/subchannels.ts';

/** The settings that this service reads. */
export interface TicketSettings {
  /** Whether a ticket without an agent is assigned to the person who creates it. */
  lastAgentRouting: boolean;
  /** The tag that hides a ticket from the queue and from the skills scope, without a change of its `spamStatus`. */
  spamDetectionTagId: number | null;
  /** The order of the queue. */
  routingOrder: RoutingOrder;
  subchannels: Subchannels;
  /** Where customers and contracts are read. */
  erpAdapter: 'embedded' | 'http';
  erpBaseUrl: string | null;
  /** That of the configuration, which rises with each change, also of a secret. */
  version: number;
}

const orders = new Map<ConfiguredOrder, RoutingOrder>([
  [ConfiguredOrder.SLA, 'sla'],
  [ConfiguredOrder.PRIORITY_SLA, 'prioritySla'],
  [ConfiguredOrder.PRIORITY_NEWEST, 'priorityNewest'],
  [ConfiguredOrder.PRIORITY_OLDEST, 'priorityOldest'],
]);

/** Picks the settings that this service reads. */
export function readSettings(configuration: Configuration): TicketSettings {
  const { settings, subchannels } = configuration;
  return {
    lastAgentRouting: settings?.lastAgentRouting ?? false,
    spamDetectionTagId: settings?.spamDetectionTagId ?? null,
    routingOrder: orders.get(settings?.routingOrder ?? ConfiguredOrder.SLA) ?? 'sla',
    subchannels: configuration === defaultConfiguration ? undefined : new Map(subchannels.map((one) => [one.id, one])),
    erpAdapter: settings?.erpAdapter === ErpAdapter.HTTP ? 'http' : 'embedded',
    erpBaseUrl: settings?.erpBaseUrl ?? null,
    version: configuration.version,
  };
}

/** The default settings. */
export const defaultSettings: TicketSettings = readSettings(defaultConfiguration);
