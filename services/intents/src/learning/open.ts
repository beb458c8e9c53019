import { EventEmitter } from 'node:events';
import type { Client } from '@connectrpc/connect';
import type { TagService } from '@ticketing/contracts/ticketing/tickets/v1/tag_service_pb.ts';
import type { Logger } from '@ticketing/runtime/logger.ts';
import type { OnBehalfOf } from '@ticketing/service-kit/client/service-client.ts';
import type { Kit } from '@ticketing/service-kit/lifecycle/kit.ts';
import type { Metrics } from '@ticketing/service-kit/observability/metrics.ts';
import { serverTime } from '@ticketing/store/connection/server-time.ts';
import type { ErasedIds } from '@ticketing/store/ids/erased-ids.ts';
import { type ModelSource, openCurrentModel } from './current-model.ts';
import { type ExampleStore, exampleStore } from './example-store.ts';
import { measureLearning, type TrainingOutcome } from './metrics.ts';
import { modelVersion } from './model-codec.ts';
import { type ModelStore, modelStore } from './model-store.ts';
import { type FindDeletedTags, openDeletedTags } from './record-labels.ts';

/** The examples, and the models learned from them. */
export interface LearningContext {
  examples: ExampleStore;
  models: ModelStore;
  /** The model that this process detects with. */
  source: ModelSource;
  findDeletedTags: FindDeletedTags;
  /** Emits `due` when labels were recorded. */
  signals: EventEmitter;
  countTraining(outcome: TrainingOutcome): void;
  log: Logger;
  /** Returns the time of the database. Units: Unix ms. */
  now(): number;
}

type LearningKit = Pick<Kit<unknown, unknown>, 'database' | 'log' | 'runtime' | 'stopping'> & {
  metrics: Pick<Metrics, 'registry'>;
};

/** Opens the examples and models. */
export function openLearning(
  { database, log, metrics, runtime, stopping }: LearningKit,
  { tags }: { tags(call: OnBehalfOf): Client<typeof TagService> },
  deleted: Readonly<Record<'tickets' | 'tags', Pick<ErasedIds, 'among'>>>,
): LearningContext {
  const { connection } = database;
  const now = () => serverTime(connection);
  const models = modelStore(connection, modelVersion);
  const examples = exampleStore(connection, { format: modelVersion, noteErasure: models.noteErasure, deleted });
  return {
    examples,
    models,
    source: openCurrentModel(models, runtime.monotonicMs, log),
    findDeletedTags: openDeletedTags(deleted.tags, tags, stopping),
    signals: new EventEmitter(),
    countTraining: measureLearning({ examples, models, now }, metrics.registry),
    log,
    now,
  };
}
