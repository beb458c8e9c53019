import type { ConfigReader } from '@ticketing/runtime/config-reader.ts';
import type { ReceiverConfig } from './inbound-mail/smtp-receiver.ts';
import { type MailConfig, readMailConfig } from './outbound-mail/config.ts';

/** The configuration that only this service has. */
export interface TicketsConfig extends MailConfig {
  erp: ErpConfig;
  /** The address at which mails are received; undefined if none are. */
  receiver: ReceiverConfig | undefined;
}

/** How the ERP system is used. Units: ms. */
interface ErpConfig {
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
    receiver: readReceiver(from),
    erp: {
      timeoutMs: from.integer('ERP_TIMEOUT_MS', { default: 5_000, min: 100, max: 25_000 }),
      waitMs: from.integer('ERP_WAIT_MS', { default: 1_000, min: 10, max: 10_000 }),
      pauseMs: from.integer('ERP_PAUSE_MS', { default: 10_000, min: 100, max: 600_000 }),
      cacheMs: from.integer('ERP_CACHE_SECONDS', { default: 3_600, min: 0, max: 86_400 }) * 1000,
      maxResponses: from.integer('ERP_CACHE_ENTRIES', { default: 100_000, min: 0, max: 10_000_000 }),
    },
  };
}

/** Reads the address at which mails are received; undefined without a port: then none are received. */
function readReceiver(from: ConfigReader): ReceiverConfig | undefined {
  const host = from.text('MAIL_RECEIVER_HOST', { default: '127.0.0.1' });
  const isOn = from.optionalText('MAIL_RECEIVER_PORT') !== undefined;
  return isOn ? { host, port: from.port('MAIL_RECEIVER_PORT', 0) } : undefined;
}
