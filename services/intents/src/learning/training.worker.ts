import { serveFunctions } from '@ticketing/sandbox/serve-functions.ts';
import { featuresFromBytes } from './features.ts';
import { maxLabels, minExamples } from './learn-tasks.ts';
import type { Model } from './model.ts';
import { parseModel, serialiseModel } from './model-codec.ts';
import type { LabelledFeatures } from './rules/label.ts';
import { train } from './train.ts';
import type { Example } from './training-examples.ts';

/** A model that was learned. */
export interface Training {
  bytes: Uint8Array;
  /** The number of labels that it knows. */
  labels: number;
  /** The number of tags that have enough examples to be learned, but are not among the most frequent. */
  tagsLeftOut: number;
}

const examples: Example[] = [];
let previous: Model | undefined;

const functions = {
  /** Sets the model to start from. Returns nothing; fails if the bytes are no model. */
  startFrom(bytes: Uint8Array): void {
    previous = parseModel(bytes);
  },
  /** Adds examples; `first` is the number of examples before them. A worker that was replaced in between has none. */
  add(first: number, batch: readonly LabelledFeatures[]): void {
    requireCount(first);
    for (const one of batch) examples.push(toExample(one));
  },
  /** Learns from all examples, whose number is `count`. */
  learn(count: number): Training {
    requireCount(count);
    const model = train(examples, previous);
    return { bytes: serialiseModel(model), labels: model.columns.length, tagsLeftOut: tagsLeftOut() };
  },
};

/** The functions of the worker of a training. */
export type TrainingFunctions = typeof functions;

function requireCount(count: number): void {
  if (examples.length !== count) throw new Error(`The worker has ${examples.length} examples, not ${count}.`);
}

function toExample({ features, tagIds, isSpam }: LabelledFeatures): Example {
  return {
    features: featuresFromBytes(features),
    ...(tagIds === null ? {} : { tagIds }),
    ...(isSpam === null ? {} : { isSpam }),
  };
}

function tagsLeftOut(): number {
  const counts = new Map<number, number>();
  for (const tagId of examples.flatMap(({ tagIds = [] }) => tagIds)) counts.set(tagId, (counts.get(tagId) ?? 0) + 1);
  return Math.max(0, [...counts.values()].filter((count) => count >= minExamples).length - maxLabels);
}

serveFunctions(functions);
