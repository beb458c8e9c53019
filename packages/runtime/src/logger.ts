import { type DestinationStream, type Logger, pino } from 'pino';

export type { Logger };

/** Names of properties that can hold secrets or the text of a ticket, which must never be logged. */
const secretNames = [
  ...['authorization', 'cookie', 'set-cookie', 'setCookie', 'x-api-key'],
  ...['token', 'accessToken', 'secret', 'password', 'key', 'jwk'],
  ...['body', 'bodyHtml', 'bodyPlain', 'bodyClean', 'subject', 'summary', 'content', 'rawData'],
];
const maxCauses = 4;
/** Prefixes of pino's redaction paths, one for each level of nesting. */
const prefixes = ['', '*.', '*.*.', '*.*.*.'];

/**
 * Makes the JSON logger of a service. It redacts secrets and texts of tickets by property name, up to four levels deep.
 *
 * Source: docs/reference/guarantees.md, What is measured.
 */
export function createLogger(service: string, level: string, destination?: DestinationStream): Logger {
  const paths = prefixes.flatMap((prefix) => secretNames.map((name) => redactionPath(prefix, name)));
  const options = {
    name: service,
    level,
    redact: { paths, censor: '[redacted]' },
    serializers: { err: describeError },
  };
  return destination ? pino(options, destination) : pino(options);
}

/**
 * Returns the properties of an error that are logged. Others are left out: a driver can attach its whole state to an error.
 */
function describeError(error: unknown, depth = 0): unknown {
  if (!(error instanceof Error)) {
    // A driver gives its whole state as a cause, which may contain itself.
    return depth > 0 && typeof error === 'object' && error ? error.constructor?.name : error;
  }
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

function redactionPath(prefix: string, name: string): string {
  return /^\w+$/.test(name) ? prefix + name : `${prefix.slice(0, -1)}["${name}"]`;
}
