import { resolve } from 'node:path';
import { defaultIdMargin, parseIdMargin } from '@ticketing/service-kit/operations/operations.ts';
import { openStoppedSystem } from '../backup/open-system.ts';
import { restoreBackup, restoreBy } from '../backup/restore.ts';
import { declareCommand, print, UsageError } from './command.ts';

const usage = `Restores a backup into the empty stores of a system that is not running (docs/operations/backup.md):

  npm run restore -- --from FOLDER --ledger FILE

  --from FOLDER       the folder that npm run backup has made
  --in-place          instead of --from: other tools have restored all databases already
  --ledger FILE       the ledger; what it says was deleted is deleted again
  --without-ledger    for a system that keeps none: what was deleted since the backup is there again; begin a
                      new ledger then, because the old one would delete it at the next restore
  --id-margin NUMBER  how many ids of each kind may have been handed out since the last line of the ledger (${defaultIdMargin})
  --exec COMMAND      with --in-place, instead of --data: runs the program of a service; {service} stands for its name, for
                      example 'podman-compose -f deploy/compose/compose.yaml run --rm -T {service}-set-up'
  --data DIR          the data folder of the system (./data); its keys must be those of the backup's time

Then start the system, and run npm run events -- reconcile reporting. The exit code is 1 if something could not be deleted
again; it is named then.
`;

const options = {
  data: { type: 'string', default: './data' },
  from: { type: 'string' },
  'in-place': { type: 'boolean', default: false },
  ledger: { type: 'string' },
  'without-ledger': { type: 'boolean', default: false },
  'id-margin': { type: 'string', default: defaultIdMargin },
  exec: { type: 'string' },
} as const;

export const command = declareCommand({ usage, options }, async (values) => {
  const { from, ledger } = values;
  if ((from === undefined) !== values['in-place'] || (ledger === undefined) !== values['without-ledger']) {
    throw new UsageError(
      'Name one of --from and --in-place, and one of --ledger and --without-ledger (--help explains them).',
    );
  }
  const restored = {
    folder: from === undefined ? undefined : resolve(from),
    ledger: ledger === undefined ? undefined : resolve(ledger),
    idMargin: parseIdMargin(values['id-margin']),
  };
  if (values.exec !== undefined) {
    if (!values['in-place']) throw new UsageError('--exec goes with --in-place.');
    return (await restoreBy(values.exec, restored, print)) > 0 ? 1 : 0;
  }
  const system = await openStoppedSystem(resolve(values.data));
  try {
    return (await restoreBackup(system.environment, restored, print)) > 0 ? 1 : 0;
  } finally {
    await system.close();
  }
});
