import { openSandbox, type SandboxLimits } from '@ticketing/sandbox/sandbox.ts';
import { SandboxError } from '@ticketing/sandbox/sandbox-error.ts';
import type { LabelledFeatures } from './rules/label.ts';
import type { Training, TrainingFunctions } from './training.worker.ts';

const minute = 60_000;
const limits: SandboxLimits = {
  // The first training from 20,000 examples takes one minute of CPU for 40 labels, and three for 200.
  timeoutMs: 30 * minute,
  maxHeapMb: 1024,
  maxOutputBytes: 15 * 1024 * 1024,
  maxWorkers: 1,
  longRunBytes: Number.POSITIVE_INFINITY,
  maxQueued: 1,
  maxQueuedBytes: 16 * 1024 * 1024,
  maxQueuedPerCaller: 1,
  maxQueuedBytesPerCaller: 16 * 1024 * 1024,
  idleMs: minute,
};

/** The input of a training. */
export interface TrainingInput {
  /** The bytes of the model to start from. */
  previous: Uint8Array | undefined;
  batches: AsyncIterable<readonly LabelledFeatures[]>;
}

/**
 * Learns a model in a separate process that exists only for this training. Examples are sent to it as they are read.
 *
 * Errors: SandboxError, if it exceeds a limit or ends; `signal.reason`, once it aborts; those of the batches.
 */
export async function trainModel(
  { previous, batches }: TrainingInput,
  signal: AbortSignal,
): Promise<Training & { examples: number }> {
  const sandbox = openSandbox<TrainingFunctions>(new URL('./training.worker.ts', import.meta.url), limits);
  const close = () => void sandbox.close();
  signal.addEventListener('abort', close);
  try {
    signal.throwIfAborted();
    if (previous) await sandbox.run('training', 'startFrom', previous).catch(ignoreDamage);
    let examples = 0;
    for await (const batch of batches) {
      await sandbox.run('training', 'add', examples, batch);
      examples += batch.length;
    }
    return { ...(await sandbox.run('training', 'learn', examples)), examples };
  } catch (error) {
    throw signal.aborted ? signal.reason : error;
  } finally {
    signal.removeEventListener('abort', close);
    await sandbox.close();
  }
}

/** A training without the previous model takes longer, and comes to the same result. */
function ignoreDamage(error: unknown): void {
  if (!(error instanceof SandboxError) || error.reason !== 'failed') throw error;
}
