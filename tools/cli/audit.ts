import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { toRequest } from '@ticketing/service-kit/operations/operation-request.ts';
import { operations } from '@ticketing/service-kit/operations/operations.ts';
import { checkExport, readPoint, reportLines } from '@ticketing/store/audit/audit-export.ts';
import { readEnvironment } from '../dev/environment-file.ts';
import { operateAll } from '../dev/load-services.ts';
import { declareCommand, print, UsageError } from './command.ts';

const usage = `Shows and checks who changed and deleted what in a system that was started by npm start:

  npm run audit -- export --service NAME  ${operations['audit-export'].does}
  npm run audit -- verify                 ${operations['audit-verify'].does}, of all services or of one with --service NAME
  npm run audit -- verify --file FILE     checks an export

  --noted POINT  a point that an earlier check or a line of the service's log has shown (number:hash), with --service or
                 --file. A check compares the log with it: only so can one be found out that somebody has rewritten to its
                 end. An export begins after it, so that exports can follow each other without gaps.
  --data DIR     the data folder of that system (./data)

The exit code is 1 if a log was changed, or does not have the noted point any more.
`;

const options = {
  data: { type: 'string', default: './data' },
  service: { type: 'string' },
  file: { type: 'string' },
  noted: { type: 'string' },
} as const;

const commands = { export: 'audit-export', verify: 'audit-verify' } as const;

export const command = declareCommand({ usage, options, words: 'some' }, async (values, words) => {
  const command = words.join(' ');
  if (command !== 'export' && command !== 'verify') {
    throw new UsageError(`There is no command "${command}" (--help lists them).`);
  }
  const problems =
    values.file === undefined
      ? await operate(commands[command], values, resolve(values.data))
      : await verifyFile(values.file, values.noted);
  return problems > 0 ? 1 : 0;
});

function operate(
  name: 'audit-export' | 'audit-verify',
  { service, noted }: { service?: string; noted?: string },
  dataDir: string,
): Promise<number> {
  if (service === undefined && (name === 'audit-export' || noted !== undefined)) {
    throw new UsageError('Name the service with --service.');
  }
  return operateAll(toRequest(name, { noted }), print, readEnvironment(dataDir), service);
}

async function verifyFile(file: string, noted: string | undefined): Promise<number> {
  const lines = readFileSync(file, 'utf8').split('\n').filter(Boolean);
  const { service, ...report } = await checkExport(lines, noted === undefined ? [] : [readPoint(noted)]);
  for (const line of reportLines(service, report)) print(line);
  return report.problems.length;
}
