import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { operateReporting } from '@ticketing/reporting/operate.ts';
import type { Environment } from '@ticketing/runtime/config-reader.ts';
import { operateTickets } from '@ticketing/tickets/operate.ts';
import { environmentFile } from '../tools/dev/environment-file.ts';
import { runDevelopmentScript, UsageError } from '../tools/dev/run-script.ts';

const usage = `Looks after the events of a system that was started by npm start:

  npm run events -- parked             lists the events that could not be sent or handled, and why
  npm run events -- replay             sends and handles them again; --key KEY: those of one ticket or tag
  npm run events -- drain              waits until all events are sent and handled
  npm run events -- rebuild reporting  makes the rows of reporting anew from the tickets, beside the old ones
  npm run events -- reconcile reporting  compares the rows with the tickets, and repairs them

  --data DIR  the data folder of that system (./data)

Ends with 1 if anything is left.
`;

const print = (line: string) => void process.stdout.write(`${line}\n`);

await runDevelopmentScript(async () => {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: {
      data: { type: 'string', default: './data' },
      key: { type: 'string' },
      help: { type: 'boolean', default: false },
    },
  });
  if (values.help || positionals.length === 0) {
    process.stdout.write(usage);
    return;
  }
  const environment = readEnvironment(resolve(values.data));
  const left = await operate(positionals.join(' '), values.key, environment);
  process.exitCode = left > 0 ? 1 : 0;
});

async function operate(command: string, key: string | undefined, environment: Environment): Promise<number> {
  const tickets = (name: Parameters<typeof operateTickets>[0]) => operateTickets(name, print, environment);
  const reporting = (name: Parameters<typeof operateReporting>[0]['name']) =>
    operateReporting({ name, key }, print, environment);
  switch (command) {
    case 'parked': {
      const count = (await tickets('parked')) + (await reporting('parked'));
      if (count === 0) print('nothing is parked');
      return count;
    }
    case 'replay':
      return (await tickets('replay')) + (await reporting('replay'));
    case 'drain':
      return (await tickets('drain')) + (await reporting('drain'));
    case 'rebuild reporting':
      return reporting('rebuild');
    case 'reconcile reporting':
      return reporting('reconcile');
    default:
      throw new UsageError(`There is no command "${command}" (--help lists them).`);
  }
}

function readEnvironment(dataDir: string): Environment {
  try {
    return JSON.parse(readFileSync(environmentFile(dataDir), 'utf8')) as Environment;
  } catch (error) {
    throw new UsageError(`No system is running on ${dataDir}; start one by npm start, or name its folder by --data.`, {
      cause: error,
    });
  }
}
