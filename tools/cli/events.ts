import { resolve } from 'node:path';
import { describeOperations } from '@ticketing/service-kit/operations/operation-help.ts';
import { toRequest } from '@ticketing/service-kit/operations/operation-request.ts';
import { operationsOfCommand } from '@ticketing/service-kit/operations/operations.ts';
import { readEnvironment } from '../dev/environment-file.ts';
import { operateAll } from '../dev/load-services.ts';
import { declareCommand, print, UsageError } from './command.ts';

const prefix = 'npm run events -- ';
const names = operationsOfCommand(prefix);

const usage = `Carries out operations on a system that was started by npm start: on its events, and on what follows from them:

  ${prefix}OPERATION [SERVICE] [OPTIONS]

${describeOperations(names).join('\n')}

  --data DIR  the data folder of that system (./data)

Without a service, all that have the operation carry it out. The exit code is 1 if anything is left to be done, or was found
wrong. docs/operations/operations.md says how each is called in containers and on Kubernetes, and lists all others.
`;

const options = { data: { type: 'string', default: './data' }, key: { type: 'string' } } as const;

export const command = declareCommand(
  { usage, options, words: 'some' },
  async ({ data, ...texts }, [first = '', service, ...rest]) => {
    const name = names.find((one) => one === first);
    if (name === undefined || rest.length > 0) {
      throw new UsageError(`There is no command "${[first, service, ...rest].join(' ').trim()}" (--help lists them).`);
    }
    const left = await operateAll(toRequest(name, texts), print, readEnvironment(resolve(data)), service);
    return left > 0 ? 1 : 0;
  },
);
