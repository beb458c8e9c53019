import { readMeasured } from '@ticketing/runtime/read-measured.ts';
import { Counter, Gauge, type Registry } from 'prom-client';
import type { ExampleStore } from './example-store.ts';
import type { ModelStore } from './model-store.ts';

/** The outcome of a training: its model was `stored`, it has `failed`, or it was `lost` to a faster process. */
export type TrainingOutcome = 'stored' | 'failed' | 'lost';

/** The measured stores. Units: `now` in Unix ms, by the clock of the database. */
export interface MeasuredLearning {
  examples: Pick<ExampleStore, 'counts'>;
  models: Pick<ModelStore, 'newest'>;
  now(): number;
}

/**
 * Registers the metrics of learning. The stores are measured whenever the metrics are read.
 *
 * Source: docs/reference/guarantees.md, What is measured.
 */
export function measureLearning(
  { examples, models, now }: MeasuredLearning,
  registry: Registry,
): (outcome: TrainingOutcome) => void {
  const trainings = new Counter({
    name: 'model_trainings_total',
    help: 'Trainings of a model, by outcome: stored, failed, or lost (to another process).',
    labelNames: ['outcome'],
    registers: [registry],
  });
  const gauge = (name: string, help: string, read: () => Promise<number>) =>
    new Gauge({
      name,
      help,
      registers: [registry],
      async collect() {
        const value = await readMeasured(read);
        this.remove();
        if (value !== undefined) this.set(value);
      },
    });
  const newest = () => models.newest();
  gauge('model_version', 'The version of the newest model; 0 if nothing was learned yet.', async () => {
    return (await newest())?.version ?? 0;
  });
  gauge('model_labels', 'How many tags the newest model knows, and one more if it knows spam.', async () => {
    return (await newest())?.labels ?? 0;
  });
  gauge(
    'model_examples',
    'From how many examples the newest model was learned.',
    async () => (await newest())?.examples ?? 0,
  );
  gauge('model_age_seconds', 'How old the newest model is.', async () => {
    const model = await newest();
    return model ? Math.max(0, (now() - model.trainedAt) / 1000) : 0;
  });
  gauge('training_examples', 'Tickets that can be learned from.', async () => (await examples.counts()).examples);
  gauge('training_examples_queued', 'Tickets with decisions that are not read yet.', async () => {
    return (await examples.counts()).queued;
  });
  gauge('training_examples_given_up', 'Tickets with decisions that cannot be read.', async () => {
    return (await examples.counts()).givenUp;
  });
  return (outcome) => trainings.inc({ outcome });
}
