import { createLogger } from '@ticketing/runtime/logger.ts';
import { expect, test } from 'vitest';
import { repeatCrashed } from './repeat-crashed.ts';
import { SandboxError, type SandboxReason } from './sandbox-error.ts';

/** Work that ends for these reasons, one in each run, and then succeeds. */
function workThatEnds(...reasons: SandboxReason[]) {
  let runs = 0;
  const work = async () => {
    const reason = reasons[runs++];
    if (reason) throw new SandboxError(reason, 'ended');
    return 'result';
  };
  return { result: repeatCrashed(work, createLogger('test', 'silent')), runs: () => runs };
}

test('a run whose worker crashes is repeated once', async () => {
  const { result, runs } = workThatEnds('crashed');
  expect(await result).toBe('result');
  expect(runs()).toBe(2);
});

test('a run whose worker crashes twice is an error, and the work may be tried again later', async () => {
  const { result, runs } = workThatEnds('crashed', 'crashed');
  const error = { code: 'unavailable', reason: 'sandbox_crashed', retryAfterSeconds: 5 };
  await expect(result).rejects.toMatchObject(error);
  expect(runs()).toBe(2);
});

test.each(['time', 'memory', 'output', 'failed'] as const)(
  'a run that ends for the reason %s is not repeated',
  async (reason) => {
    const { result, runs } = workThatEnds(reason);
    await expect(result).rejects.toMatchObject({ reason });
    expect(runs()).toBe(1);
  },
);
