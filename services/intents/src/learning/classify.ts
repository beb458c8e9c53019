import { toProbability } from './calibration.ts';
import type { Features } from './features.ts';
import { findBest } from './learn-labels.ts';
import type { Column, Model, Task } from './model.ts';
import { toVector } from './vocabulary.ts';

/** A label that was found in a ticket, and the probability that it is right. */
export interface Finding<Label> {
  label: Label;
  confidence: number;
}

/** The labels that a model finds in a ticket. */
export interface Classes {
  /** The tags that are probable enough, by id, the most probable first. */
  tags: Finding<number>[];
  /** The topic that fits best; null if the model knows none. */
  topic: Finding<string> | null;
  /** The probability that the ticket is spam; null if the model does not know spam. */
  spamProbability: number | null;
}

/** Classifies a ticket with a model. */
export function classify(features: Features, model: Model): Classes {
  const scored = computeScores(features, model);
  const ofTask = (task: Task) => scored.filter(({ column }) => column.task === task);
  const probabilities = ofTask('tag').map(({ column, score }) => ({
    label: Number(column.label),
    confidence: toProbability(score, column.measurement.calibration),
  }));
  const tags = probabilities
    .filter(({ confidence }) => confidence >= model.tagThreshold)
    .sort((left, right) => right.confidence - left.confidence || left.label - right.label);
  const [spam] = ofTask('spam');
  const spamProbability = spam ? toProbability(spam.score, spam.column.measurement.calibration) : null;
  return { tags, topic: chooseTopic(ofTask('topic')), spamProbability };
}

interface Scored {
  column: Column;
  score: number;
}

function chooseTopic(scored: readonly Scored[]): Finding<string> | null {
  const { best, logOdds } = findBest(scored.map(({ score }) => score));
  const column = scored[best]?.column;
  if (!column) return null;
  return { label: column.label, confidence: toProbability(logOdds, column.measurement.calibration) };
}

function computeScores(features: Features, { vocabulary, columns, weights }: Model): Scored[] {
  const sums = new Float64Array(columns.length);
  const { indices, values } = toVector(features, vocabulary);
  for (const [position, index] of indices.entries()) {
    const value = values[position] ?? 0;
    for (let column = 0; column < columns.length; column += 1) {
      sums[column] = (sums[column] ?? 0) + value * (weights[index * columns.length + column] ?? 0);
    }
  }
  return columns.map((column, number) => ({ column, score: column.bias + column.scale * (sums[number] ?? 0) }));
}
