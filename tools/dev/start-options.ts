import { resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { UsageError } from './run-script.ts';

/** The options of `npm start`. */
export interface StartOptions {
  /** The port of the gateway; 0 for any free one. */
  port: number;
  dataDir: string;
  /** Whether each service is a separate process. */
  isSplit: boolean;
  /** Whether all parts listen and call with TLS. */
  hasTls: boolean;
  logLevel: string;
}

const usage = `Starts the whole system on this machine:

  npm start -- --port 8080 --data ./data

  --port PORT        the port of the gateway (8080; 0 for any free one); the other services take the ports after it
  --data DIR         the folder of keys and data (./data)
  --split            runs each service in a process of its own, from bundles, as in production
  --tls              TLS between all parts, with certificates that are made in the data folder
  --log-level LEVEL  trace, debug, info, warn, error or silent (warn)

MONGODB_URI names a MongoDB server to use instead of the embedded store, and KAFKA_BROKERS (host:port,…) the brokers of a
Kafka cluster to use instead of the embedded log. Variables that begin with TICKETING_ configure the services.
`;

const options = {
  port: { type: 'string', default: '8080' },
  data: { type: 'string', default: './data' },
  split: { type: 'boolean', default: false },
  tls: { type: 'boolean', default: false },
  'log-level': { type: 'string', default: 'warn' },
  help: { type: 'boolean', default: false },
} as const;

/** Reads the command line. Shape: the usage text if `--help` is given. Errors: UsageError. */
export function readStartOptions(args: string[]): StartOptions | string {
  const { values } = parse(args);
  if (values.help) return usage;
  const port = Number(values.port);
  if (!/^\d{1,5}$/.test(values.port) || port > 65_535) {
    throw new UsageError(`--port takes a port number, not "${values.port}".`);
  }
  return {
    port,
    dataDir: resolve(values.data),
    isSplit: values.split,
    hasTls: values.tls,
    logLevel: values['log-level'],
  };
}

function parse(args: string[]) {
  try {
    return parseArgs({ args, options });
  } catch (error) {
    throw new UsageError(`${error instanceof Error ? error.message : String(error)} (--help lists the options)`);
  }
}
