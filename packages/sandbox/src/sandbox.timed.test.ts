import { spawn } from 'node:child_process';
import { availableParallelism } from 'node:os';
import { it, onTestFinished } from 'vitest';
import { openProbe } from '../test/open-probe.ts';

it.runIf(process.platform === 'linux')('a run has its time also if others use the processors', async () => {
  const others = Array.from({ length: 2 * availableParallelism() }, () =>
    spawn(process.execPath, ['-e', 'for (;;);'], { stdio: 'ignore' }),
  );
  onTestFinished(() => others.forEach((one) => void one.kill('SIGKILL')));
  const sandbox = openProbe({ timeoutMs: 500 });
  onTestFinished(() => sandbox.close());
  // Beside processes of a higher priority, it gets a small part of a processor.
  await sandbox.run('someone', 'work', 100);
});
