import type { ConfigReader } from '@ticketing/runtime/config-reader.ts';
import { type ReceiverConfig, readReceiverConfig } from './inbound-mail/receiver-config.ts';
import { type MailConfig, readMailConfig } from './outbound-mail/config.ts';

/** The configuration that only this service has. */
export interface TicketsConfig extends MailConfig {
  erp: ErpConfig;
  /** The address at which mails are received; undefined if none are. */
  receiver: ReceiverConfig | undefined;
}

/** How the ERP system is used. Units: ms. */
export interface ErpConfig {
  /** How long a request to the ERP system may take. */
  timeoutMs: number;
  /** How long a read or a write of a ticket waits for the ERP system. */
  waitMs: number;
  /** How long the ERP system is left alone after several failures. */
  pauseMs: number;
  /** How long its responses are kept. */
  cacheMs: number;
  /** How many responses are kept. */
  maxResponses: number;
}

/** Reads the configuration that only this service has. Source: docs/services/tickets.md, Configuration. */
export function readTicketsConfig(from: ConfigReader): TicketsConfig {
  return {
    ...readMailConfig(from),
    receiver: readReceiverConfig(from),
    erp: {
      timeoutMs: from.integer('ERP_TIMEOUT_MS', { default: 5_000, min: 100, max: 25_000 }),
      waitMs: from.integer('ERP_WAIT_MS', { default: 1_000, min: 10, max: 10_000 }),
      pauseMs: from.integer('ERP_PAUSE_MS', { default: 10_000, min: 100, max: 600_000 }),
      cacheMs: from.integer('ERP_CACHE_SECONDS', { default: 3_600, min: 0, max: 86_400 }) * 1000,
      maxResponses: from.integer('ERP_CACHE_ENTRIES', { default: 100_000, min: 0, max: 10_000_000 }),
    },
  };
}
