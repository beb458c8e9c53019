import { type DestinationStream, type Logger, pino } from 'pino';

export type { Logger };

/** The names under which something secret could reach a log line. */
const secretNames = ['authorization', 'cookie', 'token', 'secret', 'password', 'key', 'body', 'setCookie'];

/**
 * Makes the JSON logger of a service. Secrets and texts of tickets are removed by name, at two levels.
 *
 * Source: guarantees.md section 7.
 */
export function createLogger(service: string, level: string, destination?: DestinationStream): Logger {
  const paths = secretNames.flatMap((name) => [name, `*.${name}`, `*.headers.${name}`]);
  const options = { name: service, level, redact: { paths, censor: '[redacted]' } };
  return destination ? pino(options, destination) : pino(options);
}
