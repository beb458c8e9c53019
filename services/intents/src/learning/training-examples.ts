import { createHash } from 'node:crypto';
import type { Features } from './features.ts';
import { folds } from './learn-labels.ts';
import { buildVocabulary, toVector, type Vector, type Vocabulary } from './vocabulary.ts';

/** The labels that people have decided for a ticket. An undefined label is unknown, and nothing is learned about it. */
export interface Example {
  features: Features;
  /** All tags of the ticket, if a person has looked at them. */
  tagIds?: readonly number[];
  /** The one topic of the ticket, such as its queue. */
  topic?: string;
  isSpam?: boolean;
}

/** An example as the classifiers see it. */
export interface PreparedExample extends Omit<Example, 'features'> {
  vector: Vector;
  /** The part of the examples with which it is left out. */
  fold: number;
}

/**
 * Makes the vocabulary of examples, and their vectors, in an order that depends on nothing but their content. Examples
 * with the same features are in the same fold, and count as one in the vocabulary.
 */
export function prepareExamples(examples: readonly Example[]): {
  prepared: PreparedExample[];
  vocabulary: Vocabulary;
} {
  const keyed = examples
    .map((example) => ({ example, key: computeDigest(example.features), labels: describeLabels(example) }))
    .sort((left, right) => compare(left.key, right.key) || compare(left.labels, right.labels));
  const different = new Map(keyed.map(({ key, example }) => [key, example.features]));
  const vocabulary = buildVocabulary([...different.values()]);
  const prepared = keyed.map(({ example: { features, ...labels }, key }) => ({
    ...labels,
    vector: toVector(features, vocabulary),
    fold: Number.parseInt(key.slice(0, 8), 16) % folds,
  }));
  return { prepared, vocabulary };
}

function computeDigest({ hashes, counts }: Features): string {
  const bytes = new Uint8Array(hashes.buffer, hashes.byteOffset, hashes.byteLength);
  return createHash('sha256').update(bytes).update(counts).digest('hex');
}

function describeLabels({ tagIds, topic, isSpam }: Example): string {
  return JSON.stringify([tagIds?.toSorted((left, right) => left - right), topic, isSpam]);
}

function compare(left: string, right: string): number {
  return left < right ? -1 : left > right ? 1 : 0;
}
