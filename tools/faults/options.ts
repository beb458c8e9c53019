import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { services } from '@ticketing/system/services.ts';
import { UsageError } from '../dev/run-script.ts';

/** The options of `npm run faults`. */
export interface FaultOptions {
  kills: number;
  /** The service whose processes are killed `kills` times; undefined if all kills count. */
  focus: string | undefined;
  /** The average pause between two faults. */
  secondsBetween: number;
  seed: number;
  /** The command that kills, stops, freezes and restores the broker and the database. */
  servers: string | undefined;
  /** The data folder; undefined for a temporary one. */
  dataDir: string | undefined;
  /** Whether two processes run of each service and of the gateway. */
  hasReplicas: boolean;
}

const usage = `Kills processes of a system under load, and checks that nothing that was acknowledged is lost:

  npm run faults -- --kills 100

  --kills NUMBER            how many processes are killed (100); others are frozen for 1 to 8 seconds
  --focus SERVICE           half of the faults hit this service, and only its kills count; for example settings
  --seconds-between NUMBER  the average pause between two faults (1)
  --seed NUMBER             chooses the faults; the same seed chooses the same ones (default: random)
  --replicas                runs two processes of each service and of the gateway, with all their roles, behind balancers
                            of connections; all are killed and frozen
  --data DIR                a new folder for the system (default: a temporary one, removed if nothing is wrong)
  --servers COMMAND         also kills, stops and freezes the servers that MONGODB_URI and KAFKA_BROKERS name, by
                            COMMAND kill|start|stop|freeze|thaw broker|database

Receivers of webhooks, readers of the feed and a mail server run beside the system. They are killed and frozen too, and
some receivers fail, hang and vanish for a while.

Needs Linux. The exit code is 1 if a change or a message is lost, events are out of order, a bulk is applied in part, rows or
counts differ, a mail has not left or left with several ids, something is left that no ticket has, or a receiver or reader
has not got exactly the changes that it must get.
`;

const flags = {
  kills: { type: 'string', default: '100' },
  focus: { type: 'string' },
  'seconds-between': { type: 'string', default: '1' },
  seed: { type: 'string' },
  replicas: { type: 'boolean', default: false },
  data: { type: 'string' },
  servers: { type: 'string' },
  help: { type: 'boolean', default: false },
} as const;

/** Reads the command line. Shape: the usage text if `--help` is given. Errors: UsageError. */
export function readFaultOptions(args: string[], defaultSeed: number): FaultOptions | string {
  const { values } = parse(args);
  if (values.help) return usage;
  const dataDir = values.data === undefined ? undefined : resolve(values.data);
  if (dataDir !== undefined && existsSync(join(dataDir, 'mongodb'))) {
    throw new UsageError(`${dataDir} holds the data of a system already; name a new folder.`);
  }
  return {
    kills: numberOf('kills', values.kills, /^\d{1,6}$/),
    focus: serviceOf(values.focus),
    secondsBetween: numberOf('seconds-between', values['seconds-between'], /^\d{1,4}(\.\d+)?$/),
    seed: values.seed === undefined ? defaultSeed : numberOf('seed', values.seed, /^\d{1,9}$/),
    servers: values.servers,
    dataDir,
    hasReplicas: values.replicas,
  };
}

function parse(args: string[]) {
  try {
    return parseArgs({ args, options: flags });
  } catch (error) {
    throw new UsageError(`${error instanceof Error ? error.message : String(error)} (--help lists the options)`);
  }
}

function serviceOf(name: string | undefined): string | undefined {
  if (name === undefined || services.some((entry) => entry.name === name)) return name;
  throw new UsageError(`--focus takes the name of a service, not "${name}".`);
}

function numberOf(name: string, text: string, pattern: RegExp): number {
  if (pattern.test(text)) return Number(text);
  throw new UsageError(`--${name} takes a number, not "${text}".`);
}
