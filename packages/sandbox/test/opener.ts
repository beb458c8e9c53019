import { openProbe } from './open-probe.ts';

// Opens a sandbox, sends the id of its worker's process, and leaves the worker idle or in a run that never ends.
const sandbox = openProbe({ timeoutMs: 200 });
const workerId = await sandbox.run('someone', 'processId');
if (process.argv[2] === 'spin') void sandbox.run('someone', 'spin');
process.send?.(workerId);
