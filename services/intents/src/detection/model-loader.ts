import type { Logger } from '@ticketing/runtime/logger.ts';
import { SandboxError } from '@ticketing/sandbox/sandbox-error.ts';
import type { ModelBytes, ModelSource } from '../learning/current-model.ts';

const maxAttempts = 3;

/**
 * Makes a function that runs `work` with the newest model. `work` returns null if its process has an older model,
 * because the process was just started or the model just learned: then `load` passes it the model, and `work` is
 * repeated. Concurrent calls wait for the same `load`.
 */
export function modelLoader(
  models: ModelSource,
  load: (version: number, bytes: Uint8Array) => Promise<void>,
  log: Logger,
): <Result>(work: (version: number) => Promise<Result | null>) => Promise<Result> {
  let loading: Promise<void> | undefined;

  async function loadOrDiscard({ version, bytes }: ModelBytes): Promise<void> {
    try {
      await load(version, bytes);
    } catch (error) {
      if (!(error instanceof SandboxError) || error.reason !== 'failed') throw error;
      log.error({ err: error, version }, 'a model cannot be read, and is removed');
      await models.discard(version);
    }
  }

  return async (work) => {
    for (let attempt = 1; attempt <= maxAttempts; attempt += 1) {
      const model = await models.current();
      const result = await work(model?.version ?? 0);
      if (result !== null || !model) return requireResult(result);
      loading ??= loadOrDiscard(model).finally(() => {
        loading = undefined;
      });
      await loading;
    }
    // The process was replaced each time, or each model was damaged: the work is done without a model.
    return requireResult(await work(0));
  };
}

function requireResult<Result>(result: Result | null): Result {
  if (result === null) throw new Error('The work needs a model although none was asked for.');
  return result;
}
