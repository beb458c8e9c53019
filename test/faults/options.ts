import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { UsageError } from '../../tools/dev/run-script.ts';

/** What the fault runner is asked for. */
export interface FaultOptions {
  kills: number;
  /** Between two faults, on average. */
  secondsBetween: number;
  seed: number;
  /** The command that kills and brings back the broker and the database. */
  servers: string | undefined;
  /** Undefined: a temporary one. */
  dataDir: string | undefined;
  /** Whether a second process of each service that works in the background takes part. */
  hasReplicas: boolean;
}

const usage = `Kills the processes of a system under load, and shows that nothing that was acknowledged is lost:

  npm run faults -- --kills 100

  --kills NUMBER            how many processes are killed (100); some are also frozen for 1 to 8 seconds
  --seconds-between NUMBER  between two faults, on average (1)
  --seed NUMBER             the same seed chooses the same faults (another each time)
  --replicas                a second relay and a second consumer take part, and are killed and frozen too
  --data DIR                a new folder for the system (a temporary one, removed unless something is wrong)
  --servers COMMAND         also kills, stops and freezes the servers that MONGODB_URI and KAFKA_BROKERS name, by
                            COMMAND kill|start|stop|freeze|thaw broker|database

Needs Linux. Ends with 1 if anything is lost, out of order, torn or different.
`;

const flags = {
  kills: { type: 'string', default: '100' },
  'seconds-between': { type: 'string', default: '1' },
  seed: { type: 'string' },
  replicas: { type: 'boolean', default: false },
  data: { type: 'string' },
  servers: { type: 'string' },
  help: { type: 'boolean', default: false },
} as const;

/** Reads the command line. Shape: a text if that is all that is asked for. Errors: UsageError. */
export function readFaultOptions(args: string[], anySeed: number): FaultOptions | string {
  const { values } = parse(args);
  if (values.help) return usage;
  const dataDir = values.data === undefined ? undefined : resolve(values.data);
  if (dataDir !== undefined && existsSync(join(dataDir, 'mongodb'))) {
    throw new UsageError(`${dataDir} holds a system already; name a new folder.`);
  }
  return {
    kills: numberOf('kills', values.kills, /^\d{1,6}$/),
    secondsBetween: numberOf('seconds-between', values['seconds-between'], /^\d{1,4}(\.\d+)?$/),
    seed: values.seed === undefined ? anySeed : numberOf('seed', values.seed, /^\d{1,9}$/),
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

function numberOf(name: string, text: string, form: RegExp): number {
  if (form.test(text)) return Number(text);
  throw new UsageError(`--${name} takes a number, not "${text}".`);
}
