import { createHook } from 'node:async_hooks';
import { getCompileCacheDir } from 'node:module';
import { getPriority } from 'node:os';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { isRunning, openProbe, probe } from '../test/open-probe.ts';
import type { ProbeFunctions } from '../test/probe.worker.ts';
import type { Sandbox, SandboxLimits } from './sandbox.ts';

const opened: Sandbox<ProbeFunctions>[] = [];

function open(limits: Partial<SandboxLimits> = {}, module = probe): Sandbox<ProbeFunctions> {
  const sandbox = openProbe(limits, module);
  opened.push(sandbox);
  return sandbox;
}

afterEach(async () => {
  await Promise.all(opened.splice(0).map((sandbox) => sandbox.close()));
});

describe('a run', () => {
  it('gets copies of its arguments, and returns a copy of the result', async () => {
    expect(await open().run('someone', 'join', ['a', 'ü', '😀'], '-')).toEqual({ joined: 'a-ü-😀' });
  });

  it('of a function that is asynchronous gets and returns bytes', async () => {
    const sandbox = open({ maxOutputBytes: 16 });
    const { bytes } = await sandbox.run('someone', 'reversed', Uint8Array.of(1, 2, 3));
    expect([...bytes]).toEqual([3, 2, 1]);
    expect((await sandbox.run('someone', 'reversed', new Uint8Array(3))).bytes).toHaveLength(3);
    await expect(sandbox.run('someone', 'reversed', new Uint8Array(4))).rejects.toMatchObject({ reason: 'output' });
    await expect(sandbox.run('someone', 'failLater', 'no')).rejects.toMatchObject({ reason: 'failed', message: 'no' });
  });

  // asvs: 15.2.5
  it('has no environment variable but the folder of the compile cache', async () => {
    const names = await open().run('someone', 'environment');
    expect(names).toEqual(getCompileCacheDir() === undefined ? [] : ['NODE_COMPILE_CACHE']);
  });

  it('has a lower priority than the process that opened the sandbox', async () => {
    expect(getPriority(await open().run('someone', 'processId'))).toBeGreaterThan(getPriority());
  });

  it('fails if the function throws, and the worker goes on', async () => {
    const sandbox = open();
    await expect(sandbox.run('someone', 'fail', 'no')).rejects.toMatchObject({
      name: 'SandboxError',
      reason: 'failed',
      message: 'no',
    });
    expect(await sandbox.run('someone', 'repeat', 'x', 2)).toBe('xx');
  });

  it('fails if an argument cannot be copied, and does not end the next run of its worker', async () => {
    const sandbox = open({ timeoutMs: 300 });
    const first = await sandbox.run('someone', 'processId');
    await expect(sandbox.run('someone', 'repeat', (() => 'x') as unknown as string, 1)).rejects.toThrow('cloned');
    // When the limit of a later run has ended it, that of the refused one has passed as well.
    await expect(open({ timeoutMs: 300 }).run('someone', 'never')).rejects.toMatchObject({ reason: 'time' });
    expect(await sandbox.run('someone', 'processId')).toBe(first);
  });

  it('that is killed by the operating system is crashed, and has exceeded no limit', async () => {
    const sandbox = open({ maxWorkers: 1 });
    const processId = await sandbox.run('someone', 'processId');
    const run = expect(sandbox.run('someone', 'spin')).rejects.toMatchObject({ reason: 'crashed' });
    process.kill(processId, 'SIGKILL');
    await run;
  });

  it('fails if the module has no such function', async () => {
    await expect(open().run('someone', 'toString' as 'repeat', '', 1)).rejects.toMatchObject({ reason: 'failed' });
  });

  it('has a result of at most the limit of output', async () => {
    const sandbox = open({ maxOutputBytes: 1000 });
    expect(await sandbox.run('someone', 'repeat', 'ü', 500)).toHaveLength(500);
    await expect(sandbox.run('someone', 'repeat', 'ü', 501)).rejects.toMatchObject({ reason: 'output' });
    expect(await sandbox.run('someone', 'repeat', 'x', 1000)).toHaveLength(1000);
  });

  // guarantee: H1
  // asvs: 15.2.2
  it('is ended at the limit of time: spin, backtrack, never', async () => {
    const isEnded = async (name: 'spin' | 'backtrack' | 'never') => {
      const sandbox = open({ timeoutMs: 1000 });
      await expect(sandbox.run('someone', name)).rejects.toMatchObject({ reason: 'time' });
      expect(await sandbox.run('someone', 'repeat', 'x', 2)).toBe('xx');
    };
    await Promise.all([isEnded('spin'), isEnded('backtrack'), isEnded('never')]);
  });

  it('that has ended is not stopped because this process had no time to read its result', async () => {
    const sandbox = open({ timeoutMs: 200 });
    await sandbox.run('someone', 'work', 1);
    const run = sandbox.run('someone', 'join', ['a', 'b'], '-');
    // It is sent at once; the timer and the result are then due at the same moment.
    await new Promise((resolve) => setImmediate(resolve));
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 600);
    expect(await run).toEqual({ joined: 'a-b' });
  });

  it.each(['fillArrays', 'fillMap', 'fillText', 'oneLargeText'] as const)(
    // guarantee: H1
    'is ended at the limit of memory: %s',
    async (name) => {
      const sandbox = open();
      await expect(sandbox.run('someone', name)).rejects.toMatchObject({ reason: 'memory' });
      expect(await sandbox.run('someone', 'repeat', 'x', 2)).toBe('xx');
    },
  );

  it('fails if its worker ends, and the next run gets a new one', async () => {
    const sandbox = open();
    await expect(sandbox.run('someone', 'exit')).rejects.toMatchObject({ reason: 'crashed' });
    expect(await sandbox.run('someone', 'repeat', 'x', 2)).toBe('xx');
  });

  it('fails if the module cannot be loaded', async () => {
    const missing = new URL('./missing.worker.ts', probe);
    await expect(open({}, missing).run('someone', 'spin')).rejects.toMatchObject({ reason: 'crashed' });
  });
});

describe('the queue', () => {
  it('takes its limit of runs, and refuses one more as busy', async () => {
    const sandbox = open({ maxQueued: 2 });
    const runs = [1, 2, 3].map((count) => sandbox.run('someone', 'repeat', 'x', count));
    await expect(sandbox.run('someone', 'repeat', 'x', 4)).rejects.toMatchObject({
      code: 'unavailable',
      reason: 'sandbox_busy',
      retryAfterSeconds: 1,
    });
    expect(await Promise.all(runs)).toEqual(['x', 'xx', 'xxx']);
    expect(await sandbox.run('someone', 'repeat', 'x', 4)).toBe('xxxx');
  });

  it('takes its limit of bytes, and refuses one more as busy', async () => {
    const sandbox = open({ maxQueuedBytes: 2 * 124 });
    const text = 'ü'.repeat(50);
    const run = () => sandbox.run('someone', 'repeat', text, 1);
    const runs = [run(), run(), run()];
    await expect(run()).rejects.toMatchObject({ reason: 'sandbox_busy' });
    await Promise.all(runs);
    const lessThanOne = open({ maxQueuedBytes: 1 });
    await Promise.all([lessThanOne.run('someone', 'repeat', text, 1), lessThanOne.run('someone', 'repeat', text, 1)]);
  });

  // guarantee: H2
  it('has a share for each caller, and serves callers in turn', async () => {
    const sandbox = open({ maxQueuedPerCaller: 2, maxQueuedBytesPerCaller: 2 * 124 });
    const text = 'ü'.repeat(50);
    const ended: string[] = [];
    const run = async (caller: string, of = text) => {
      await sandbox.run(caller, 'repeat', of, 1);
      ended.push(caller);
    };
    const runs = [run('first'), run('a'), run('a')];
    await expect(run('a', '')).rejects.toMatchObject({ reason: 'sandbox_busy' });
    runs.push(run('b'));
    await expect(run('b', text.repeat(2))).rejects.toMatchObject({ reason: 'sandbox_busy' });
    runs.push(run('c'));
    await Promise.all(runs);
    expect(ended).toEqual(['first', 'a', 'b', 'c', 'a']);
  });

  it('is emptied in order, by as many workers as the limit says', async () => {
    const sandbox = open({ maxWorkers: 2, timeoutMs: 1000 });
    const ended: string[] = [];
    const spinning = expect(sandbox.run('someone', 'spin')).rejects.toMatchObject({ reason: 'time' });
    await Promise.all(['a', 'b', 'c'].map(async (text) => ended.push(await sandbox.run('other', 'repeat', text, 1))));
    expect(ended).toEqual(['a', 'b', 'c']);
    await spinning;
  });

  // guarantee: H2
  it('leaves a worker to others than a caller whose runs do not end', async () => {
    const sandbox = open({ maxWorkers: 2, timeoutMs: 60_000 });
    const settled: string[] = [];
    const spin = (caller: string) => sandbox.run(caller, 'spin').finally(() => settled.push(caller));
    const runs = [spin('a'), spin('a'), sandbox.run('a', 'repeat', 'x', 1)];
    expect(await sandbox.run('b', 'repeat', 'x', 2)).toBe('xx');
    expect(await sandbox.run('c', 'repeat', 'x', 3)).toBe('xxx');
    expect(settled).toEqual([]);
    await Promise.all([sandbox.close(), ...runs.map((run) => expect(run).rejects.toThrow('stopping'))]);
  });

  it('leaves a worker and its room to others than callers whose runs were stopped', async () => {
    const sandbox = open({ maxWorkers: 2, timeoutMs: 60_000, maxQueued: 2, maxQueuedPerCaller: 1 });
    for (const caller of ['a', 'b']) await expect(sandbox.run(caller, 'fillArrays')).rejects.toThrow('needed more');
    const settled: string[] = [];
    const runs = ['a', 'b', 'a'].map((caller) => sandbox.run(caller, 'spin').finally(() => settled.push(caller)));
    const others = ['c', 'd', 'e'].map((caller) => sandbox.run(caller, 'repeat', caller, 2));
    expect(await Promise.all(others)).toEqual(['cc', 'dd', 'ee']);
    expect(settled).toEqual([]);
    await Promise.all([sandbox.close(), ...runs.map((run) => expect(run).rejects.toThrow('stopping'))]);
  });

  it('leaves its room to others than a caller who has a run that is stopped while others wait', async () => {
    const sandbox = open({ maxWorkers: 2, timeoutMs: 60_000, maxQueued: 2, maxQueuedPerCaller: 2 });
    const filling = expect(sandbox.run('a', 'fillArrays')).rejects.toThrow('needed more');
    const runs = [sandbox.run('a', 'spin'), sandbox.run('a', 'spin')];
    const ended = Promise.all(runs.map((run) => expect(run).rejects.toThrow('stopping')));
    await filling;
    const others = ['c', 'd', 'e'].map((caller) => sandbox.run(caller, 'repeat', caller, 2));
    expect(await Promise.all(others)).toEqual(['cc', 'dd', 'ee']);
    await Promise.all([sandbox.close(), ended]);
  });

  // guarantee: H2
  it('leaves a worker to short runs while long ones of several callers are made', async () => {
    const sandbox = open({ maxWorkers: 2, longRunBytes: 200, timeoutMs: 60_000 });
    const settled: string[] = [];
    const spin = (caller: string) => sandbox.run(caller, 'spin', 'x'.repeat(200)).finally(() => settled.push(caller));
    const runs = [spin('a'), spin('b')];
    expect(await sandbox.run('c', 'repeat', 'x', 2)).toBe('xx');
    expect(settled).toEqual([]);
    await Promise.all([sandbox.close(), ...runs.map((run) => expect(run).rejects.toThrow('stopping'))]);
  });
});

describe('warm workers', () => {
  let processes = 0;
  const hook = createHook({
    init(_id, type) {
      if (type === 'PROCESSWRAP') processes += 1;
    },
  });
  beforeEach(() => {
    processes = 0;
    hook.enable();
  });
  afterEach(() => void hook.disable());

  it('are started after the first run and not before, and again in place of those that have ended', async () => {
    const sandbox = open({ warmWorkers: 2, maxWorkers: 2, timeoutMs: 500 });
    expect(processes).toBe(0);
    expect(await sandbox.run('someone', 'repeat', 'x', 2)).toBe('xx');
    await expect.poll(() => processes).toBe(2);
    await expect(sandbox.run('someone', 'spin')).rejects.toMatchObject({ reason: 'time' });
    await expect.poll(() => processes).toBe(3);
    expect(await sandbox.run('someone', 'repeat', 'x', 2)).toBe('xx');
    expect(processes).toBe(3);
  });

  it('are no more than all workers, whatever the first runs are', async () => {
    const sandbox = open({ warmWorkers: 2, maxWorkers: 2, timeoutMs: 200 });
    const first = Array.from({ length: 12 }, (_, nth) => sandbox.run(`caller ${nth}`, 'processId'));
    expect(processes).toBe(2);
    expect(new Set(await Promise.all(first)).size).toBeLessThanOrEqual(2);
    expect(processes).toBe(2);
  });

  it('cannot all be ended by one caller, because those that were ended count as occupied', async () => {
    const sandbox = open({ warmWorkers: 2, maxWorkers: 2, timeoutMs: 200 });
    const settled: string[] = [];
    const run = (caller: string, name: 'spin' | 'processId') =>
      sandbox.run(caller, name).then(
        () => settled.push(caller),
        () => settled.push(caller),
      );
    await Promise.all([run('b', 'processId'), run('c', 'processId')]);
    // Its second run waits until its first worker is replaced, which takes longer than many runs of another caller.
    const ending = Promise.all([run('a', 'spin'), run('a', 'spin')]);
    await expect.poll(() => settled.includes('a')).toBe(true);
    for (let count = 0; count < 10; count++) await run('b', 'processId');
    expect(settled.filter((caller) => caller === 'a')).toHaveLength(1);
    await ending;
  });

  it('end when all have been idle, and the next run starts them again', async () => {
    const sandbox = open({ warmWorkers: 2, maxWorkers: 2, idleMs: 1 });
    const first = await sandbox.run('someone', 'processId');
    await expect.poll(() => processes).toBe(2);
    await expect.poll(() => isRunning(first)).toBe(false);
    expect(await sandbox.run('someone', 'processId')).not.toBe(first);
    await expect.poll(() => processes).toBe(4);
  });

  it('that cannot be started are started again when they are needed', async () => {
    const sandbox = open({ warmWorkers: 1 }, new URL('./missing.worker.ts', probe));
    const run = () => expect(sandbox.run('someone', 'spin')).rejects.toMatchObject({ reason: 'crashed' });
    await run();
    await run();
  });

  it('that are starting are ended when the sandbox is closed', async () => {
    const sandbox = open({ warmWorkers: 2, maxWorkers: 2 });
    await sandbox.run('someone', 'processId');
    await expect.poll(() => processes, { interval: 1 }).toBe(2);
    await sandbox.close();
  });
});

describe('closing', () => {
  it('ends the runs, those that wait too, and refuses further ones', async () => {
    const sandbox = open();
    await sandbox.run('someone', 'repeat', 'x', 1);
    const runs = [sandbox.run('someone', 'spin'), sandbox.run('someone', 'repeat', 'x', 2)].map((run) =>
      expect(run).rejects.toMatchObject({ code: 'unavailable', reason: 'sandbox_closed' }),
    );
    await sandbox.close();
    await Promise.all(runs);
    await expect(sandbox.run('someone', 'repeat', 'x', 1)).rejects.toMatchObject({ reason: 'sandbox_closed' });
  });

  it('ends a worker that is starting', async () => {
    const sandbox = open();
    const run = expect(sandbox.run('someone', 'spin')).rejects.toMatchObject({ reason: 'sandbox_closed' });
    await sandbox.close();
    await run;
  });

  it('happens to idle workers after a while, and later runs get new ones', async () => {
    const sandbox = open({ idleMs: 1 });
    const first = await sandbox.run('someone', 'processId');
    await expect.poll(() => sandbox.run('someone', 'processId')).not.toBe(first);
  });
});
