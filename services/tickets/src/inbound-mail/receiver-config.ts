import type { ConfigReader } from '@ticketing/runtime/config-reader.ts';

/** The address at which mails are received by SMTP. */
export interface ReceiverConfig {
  host: string;
  port: number;
}

/** Reads the address at which mails are received; undefined without a port: then none are received. */
export function readReceiverConfig(from: ConfigReader): ReceiverConfig | undefined {
  const host = from.text('MAIL_RECEIVER_HOST', { default: '127.0.0.1' });
  const isOn = from.optionalText('MAIL_RECEIVER_PORT') !== undefined;
  return isOn ? { host, port: from.port('MAIL_RECEIVER_PORT', 0) } : undefined;
}
