import type { Kit } from '@ticketing/service-kit/lifecycle/kit.ts';
import type { Metrics } from '@ticketing/service-kit/observability/metrics.ts';
import { serverTime } from '@ticketing/store/connection/server-time.ts';
import { type ModelSource, openCurrentModel } from './current-model.ts';
import { type ExampleStore, exampleStore } from './example-store.ts';
import { measureLearning, type TrainingOutcome } from './metrics.ts';
import { modelVersion } from './model-codec.ts';
import { type ModelStore, modelStore } from './model-store.ts';

/** The examples, and the models learned from them. */
export interface Learning {
  examples: ExampleStore;
  models: ModelStore;
  /** The model that this process detects with. */
  source: ModelSource;
  countTraining(outcome: TrainingOutcome): void;
  /** Wakes the loop that learns, if this process has one. */
  wake(): void;
  /** The time of the database. Units: Unix ms. */
  now(): number;
}

/** Opens the examples and models on the database of a kit. */
export function openLearning(
  kit: Pick<Kit<unknown, unknown>, 'database' | 'log' | 'runtime'> & { metrics: Pick<Metrics, 'registry'> },
): Learning {
  const { connection } = kit.database;
  const now = () => serverTime(connection);
  const models = modelStore(connection, modelVersion);
  const examples = exampleStore(connection, { format: modelVersion, noteErasure: models.noteErasure });
  const source = openCurrentModel(models, kit.runtime.monotonicMs, kit.log);
  const countTraining = measureLearning({ examples, models, now }, kit.metrics.registry);
  return { examples, models, source, countTraining, wake: () => undefined, now };
}
