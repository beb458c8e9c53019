import { backOffMs } from '@ticketing/runtime/back-off.ts';
import { openSandbox, type SandboxLimits } from '@ticketing/sandbox/sandbox.ts';
import { SandboxError } from '@ticketing/sandbox/sandbox-error.ts';
import { isStoreOutage } from '@ticketing/store/document/transient-error.ts';
import { whileRenewing } from '@ticketing/store/leases/lease.ts';
import type { ClaimedTraining } from './model-store.ts';
import type { LearningContext } from './open.ts';
import type { LabelledFeatures } from './rules/label.ts';
import { isTrainingDue, maxAgeMs, minChanges, minExamples } from './rules/training-due.ts';
import type { Training, TrainingFunctions } from './training.worker.ts';

/** The most examples of a model: the ones that have changed last. */
const maxExamples = 20_000;
const renewMs = 5_000;
const firstDelayMs = 10 * 60_000;

/** The dependencies of a training. */
type TrainingContext = Omit<LearningContext, 'source' | 'findDeletedTags' | 'signals'>;

/**
 * Learns a model and stores it, if that is due and no other process does it. A process that dies meanwhile leaves
 * nothing but its lease: the next one begins again.
 *
 * Errors: store_unavailable; `signal.reason`, once it aborts.
 */
export async function learnModel(context: TrainingContext, signal: AbortSignal): Promise<boolean> {
  const { models, countTraining, log } = context;
  if (!(await isDue(context))) return false;
  const training = await models.claim();
  if (!training) return false;
  try {
    // Another process may have trained in between.
    if (!(await isDue(context))) {
      await models.release(training);
      return false;
    }
    await whileRenewing(
      () => models.renew(training.claim),
      renewMs,
      () => learnClaimed(context, training, signal),
    );
    return true;
  } catch (error) {
    if (signal.aborted) await models.release(training);
    if (signal.aborted || isStoreOutage(error)) throw error;
    const delayMs = backOffMs(training.failures, { firstMs: firstDelayMs, longestMs: maxAgeMs });
    const reason = error instanceof SandboxError ? error.reason : 'failed';
    log.error({ err: error, reason, delayMs }, 'no model could be learned; the last one stays in use');
    countTraining('failed');
    await models.release(training, { error: reason, delayMs });
    return false;
  }
}

async function isDue({ examples, models, now }: TrainingContext): Promise<boolean> {
  const model = await models.newest();
  if (!model) return examples.areThere(minExamples);
  const [changed, erasures] = await Promise.all([
    examples.changedSince(model.trainedAt, minChanges),
    models.erasures(),
  ]);
  return isTrainingDue(model, { changed, erasures }, now());
}

async function learnClaimed(
  { examples, models, countTraining, log }: TrainingContext,
  training: ClaimedTraining,
  signal: AbortSignal,
): Promise<void> {
  const newest = await models.newest();
  // After an erasure, the training does not start from a model that has seen the erased examples.
  const mayContinue = newest !== undefined && newest.erasures === training.erasures;
  const previous = mayContinue ? await models.readBytes(newest.version) : undefined;
  const input = { previous, batches: examples.newest(maxExamples) };
  const { tagsLeftOut, ...model } = await trainModel(input, signal);
  const stored = await models.store(training, model);
  countTraining(stored ? 'stored' : 'lost');
  if (!stored) return;
  const { version, durationMs, labels } = stored;
  log.info({ version, durationMs, labels, examples: model.examples, bytes: model.bytes.length }, 'a model was learned');
  if (model.examples === maxExamples) log.info({ maxExamples }, 'only the latest examples were learned');
  if (tagsLeftOut > 0) log.warn({ tagsLeftOut }, 'only the most frequent tags were learned');
}

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
async function trainModel(
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
