import { fork, spawn } from 'node:child_process';
import { once } from 'node:events';
import { availableParallelism } from 'node:os';
import { expect, it, onTestFinished } from 'vitest';
import { isRunning, openProbe } from '../test/open-probe.ts';

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

it('the end of the process that opened the sandbox ends a worker, even one that never returns', async () => {
  const isEnded = async (state: 'spin' | 'idle') => {
    const opener = fork(new URL('../test/opener.ts', import.meta.url), [state], { execArgv: [] });
    const [workerId] = (await once(opener, 'message')) as [number];
    expect(isRunning(workerId), state).toBe(true);
    opener.kill('SIGKILL');
    await expect.poll(() => isRunning(workerId), { message: state }).toBe(false);
  };
  await Promise.all([isEnded('spin'), isEnded('idle')]);
});
