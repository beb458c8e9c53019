import { resolve } from 'node:path';
import type { Environment } from '@ticketing/runtime/config-reader.ts';
import { services } from '@ticketing/system/services.ts';
import { readEnvironment } from '../tools/dev/environment-file.ts';
import { loadService, operateAll } from '../tools/dev/load-services.ts';
import { print, runScript, UsageError } from '../tools/dev/run-script.ts';

const usage = `Shows and repairs the events of a system that was started by npm start:

  npm run events -- dead-letters         lists the events that could not be sent or handled, with the reason
  npm run events -- replay               sends and handles these again; with --key KEY only those of one ticket or tag
  npm run events -- drain                waits until all events are sent and handled
  npm run events -- rebuild reporting    builds a new generation of the reporting rows from the tickets, then switches to it
  npm run events -- reconcile reporting  compares the reporting rows with the tickets, and repairs the rows that differ

  --data DIR  the data folder of that system (./data)

The exit code is 1 if anything is left to be done, or was found wrong.
`;

/** The operations that every service has. Any other operation is followed by the name of a service. */
const commonOperations = ['dead-letters', 'replay', 'drain'];

const options = { data: { type: 'string', default: './data' }, key: { type: 'string' } } as const;

await runScript({ usage, options, takesCommand: true }, async (values, words) => {
  const left = await operate(words, values.key, readEnvironment(resolve(values.data)));
  process.exitCode = left > 0 ? 1 : 0;
});

async function operate(words: readonly string[], key: string | undefined, environment: Environment) {
  const [name = '', service, ...rest] = words;
  if (rest.length === 0 && service === undefined && commonOperations.includes(name)) {
    const left = await operateAll({ name, key }, print, environment);
    if (name === 'dead-letters' && left === 0) print('there are no dead letters');
    return left;
  }
  if (rest.length > 0 || !services.some((entry) => entry.name === service)) {
    throw new UsageError(`There is no command "${words.join(' ')}" (--help lists them).`);
  }
  return (await loadService(service ?? '')).operate({ name }, print, environment);
}
