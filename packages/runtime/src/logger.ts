import { type DestinationStream, type Logger, pino } from 'pino';

export type { Logger };

/** The names under which something secret, or the text of a ticket, could reach a log line. */
const secretNames = [
  ...['authorization', 'cookie', 'set-cookie', 'setCookie', 'x-api-key'],
  ...['token', 'accessToken', 'secret', 'password', 'key', 'jwk'],
  ...['body', 'bodyPlain', 'bodyClean', 'subject', 'summary', 'content', 'rawData'],
];
const maxCauses = 4;
const places = ['', '*.', '*.*.', '*.*.*.'];

/**
 * Makes the JSON logger of a service. Secrets and texts of tickets are removed by name, four levels deep.
 *
 * Source: guarantees.md section 7.
 */
export function createLogger(service: string, level: string, destination?: DestinationStream): Logger {
  const paths = places.flatMap((place) => secretNames.map((name) => pathTo(place, name)));
  const options = {
    name: service,
    level,
    redact: { paths, censor: '[redacted]' },
    serializers: { err: describeError },
  };
  return destination ? pino(options, destination) : pino(options);
}

/** What a log line says of an error. What else errors carry, such as the whole state of a driver, can be without end. */
function describeError(error: unknown, depth = 0): unknown {
  if (!(error instanceof Error)) return error;
  const { name, message, stack, cause } = error;
  const known = Object.fromEntries(
    ['code', 'reason'].flatMap((key) => {
      const value: unknown = Reflect.get(error, key);
      return typeof value === 'string' || typeof value === 'number' ? [[key, value]] : [];
    }),
  );
  const deeper = cause === undefined || depth >= maxCauses ? {} : { cause: describeError(cause, depth + 1) };
  return { type: name, message, stack, ...known, ...deeper };
}

function pathTo(place: string, name: string): string {
  return /^\w+$/.test(name) ? place + name : `${place.slice(0, -1)}["${name}"]`;
}
