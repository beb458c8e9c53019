import { resolve } from 'node:path';
import { createBackup, documentsIn } from '../backup/backup.ts';
import { extendLedger, extendLedgerBy } from '../backup/ledger.ts';
import { openStoppedSystem } from '../backup/open-system.ts';
import { readEnvironment } from '../dev/environment-file.ts';
import { declareCommand, print, UsageError } from './command.ts';

const usage = `Makes backups of all data of a system (docs/operations/backup.md):

  npm run backup -- create --to FOLDER   copies all stores of a stopped system into a new folder
  npm run backup -- ledger --file FILE   appends to a ledger what was deleted, while the system runs

  --data DIR      the data folder of the system (./data)
  --exec COMMAND  for ledger, instead of --data: runs the program of a service; {service} stands for its name, for example
                  'kubectl exec -n ticketing deploy/{service}-scheduler -- /usr/local/bin/node main.mjs'

npm run restore -- --help says how to restore one.
`;

const options = {
  data: { type: 'string', default: './data' },
  to: { type: 'string' },
  file: { type: 'string' },
  exec: { type: 'string' },
} as const;

export const command = declareCommand({ usage, options, words: 'some' }, async (values, words) => {
  const command = words.join(' ');
  const dataDir = resolve(values.data);
  const now = () => new Date();
  if (command === 'create' && values.to !== undefined) return create(dataDir, resolve(values.to), now);
  if (command === 'ledger' && values.file !== undefined) {
    const file = resolve(values.file);
    if (values.exec !== undefined) return extendLedgerBy(values.exec, file, print);
    return extendLedger(readEnvironment(dataDir), file, print);
  }
  throw new UsageError('There is no such command, or its folder or file is missing (--help lists them).');
});

async function create(dataDir: string, folder: string, now: () => Date): Promise<void> {
  const system = await openStoppedSystem(dataDir);
  try {
    const manifest = await createBackup(system.environment, folder, now);
    print(`${documentsIn(manifest)} documents are copied to ${folder}`);
  } finally {
    await system.close();
  }
}
