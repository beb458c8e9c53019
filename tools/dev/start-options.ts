import { resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { UsageError } from './run-script.ts';

/** What `npm start` is asked for. */
export interface StartOptions {
  /** Of the gateway; 0 takes a free one. */
  port: number;
  dataDir: string;
  /** Whether each service is a process of its own. */
  isSplit: boolean;
  logLevel: string;
}

const usage = `Starts the whole system on this machine:

  npm start -- --port 8080 --data ./data

  --port PORT        of the gateway (8080; 0 takes a free one). HTTP and gRPC of the tickets service take the next two.
  --data DIR         where keys and data are kept (./data)
  --split            a process for each service, as in production
  --log-level LEVEL  trace, debug, info, warn, error or silent (warn)

MONGODB_URI names a MongoDB server to use instead of the embedded one, KAFKA_BROKERS (host:port,…) the brokers of a
Kafka instead of the log in the store. Variables TICKETING_… reach the services.
`;

const options = {
  port: { type: 'string', default: '8080' },
  data: { type: 'string', default: './data' },
  split: { type: 'boolean', default: false },
  'log-level': { type: 'string', default: 'warn' },
  help: { type: 'boolean', default: false },
} as const;

/** Reads the command line. Shape: a text if that is all that is asked for. Errors: UsageError. */
export function readStartOptions(args: string[]): StartOptions | string {
  const { values } = parse(args);
  if (values.help) return usage;
  const port = Number(values.port);
  if (!/^\d{1,5}$/.test(values.port) || port > 65_535) {
    throw new UsageError(`--port takes a port number, not "${values.port}".`);
  }
  return { port, dataDir: resolve(values.data), isSplit: values.split, logLevel: values['log-level'] };
}

function parse(args: string[]) {
  try {
    return parseArgs({ args, options });
  } catch (error) {
    throw new UsageError(`${error instanceof Error ? error.message : String(error)} (--help lists the options)`);
  }
}
