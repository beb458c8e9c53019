import { type DestinationStream, type Logger, pino } from 'pino';

export type { Logger };

/** The names under which something secret, or the text of a ticket, could reach a log line. */
const secretNames = [
  ...['authorization', 'cookie', 'set-cookie', 'setCookie', 'x-api-key'],
  ...['token', 'accessToken', 'secret', 'password', 'key', 'jwk'],
  ...['body', 'bodyPlain', 'bodyClean', 'subject', 'summary', 'content', 'rawData'],
];
const places = ['', '*.', '*.*.', '*.*.*.'];

/**
 * Makes the JSON logger of a service. Secrets and texts of tickets are removed by name, four levels deep.
 *
 * Source: guarantees.md section 7.
 */
export function createLogger(service: string, level: string, destination?: DestinationStream): Logger {
  const paths = places.flatMap((place) => secretNames.map((name) => pathTo(place, name)));
  const options = { name: service, level, redact: { paths, censor: '[redacted]' } };
  return destination ? pino(options, destination) : pino(options);
}

function pathTo(place: string, name: string): string {
  return /^\w+$/.test(name) ? place + name : `${place.slice(0, -1)}["${name}"]`;
}
