import type { Calibration } from './calibration.ts';
import type { LinearWeights } from './fit-linear.ts';
import type { Quality } from './quality.ts';
import { findIndex, type Vocabulary } from './vocabulary.ts';

/** The kind of a label: a tag, one of the topics of which each ticket has one, or spam. */
export type Task = 'tag' | 'topic' | 'spam';

/** The reliability of a label, measured with texts that the measured model had not seen. */
export interface Measurement extends Quality {
  /** For a topic: calibrates the probability that it is right if it is the most probable one. */
  calibration: Calibration;
}

/** One label that a model knows. */
export interface Column {
  task: Task;
  /** The id of a tag, or the name of a topic; `spam`. */
  label: string;
  /** The bias, which is added to the sum of the weights. */
  bias: number;
  /** The weights of the column are multiples of this. */
  scale: number;
  measurement: Measurement;
}

/**
 * A model learned from tickets. Besides the names of labels it contains numbers only: hashes of words and of parts of
 * words that occur in several tickets, and their weights. docs/decisions/0043 lists the information that can be read
 * from it.
 */
export interface Model {
  vocabulary: Vocabulary;
  columns: readonly Column[];
  /** The weights of all columns, for each feature of the vocabulary. */
  weights: Int8Array;
  /** The probability from which on tags are proposed. */
  tagThreshold: number;
  /** The number of tickets from which it was learned. */
  tickets: number;
  /** The number of tickets when its columns and the threshold were measured. */
  measuredTickets: number;
}

/** Makes a model that knows nothing, for an installation without tagged tickets. */
export function emptyModel(): Model {
  const vocabulary = { hashes: new Uint32Array(), idf: new Float32Array() };
  return { vocabulary, columns: [], weights: new Int8Array(), tagThreshold: 0.5, tickets: 0, measuredTickets: 0 };
}

/** A label as it was learned, before its weights are rounded. */
export interface LearnedLabel extends LinearWeights {
  task: Task;
  label: string;
  measurement: Measurement;
}

const maxWeight = 127;

/** Rounds weights to multiples of a 127th of the largest of their label: a byte each. */
export function roundWeights(
  learned: readonly LearnedLabel[],
  { hashes }: Vocabulary,
): Pick<Model, 'columns' | 'weights'> {
  const weights = new Int8Array(hashes.length * learned.length);
  const columns = learned.map(({ weights: exact, ...label }, number): Column => {
    const scale = exact.reduce((most, weight) => Math.max(most, Math.abs(weight)), 0) / maxWeight || 1;
    for (const [index, weight] of exact.entries())
      weights[index * learned.length + number] = Math.round(weight / scale);
    return { ...label, scale };
  });
  return { columns, weights };
}

/** The weights and the measurement of a label in a model. */
export interface KnownLabel extends LinearWeights {
  measurement: Measurement;
}

/** Finds labels of a model, with their weights in the order of another vocabulary. */
export function knownLabels(
  model: Model | undefined,
  { hashes }: Vocabulary,
): (task: Task, label: string) => KnownLabel | undefined {
  if (!model) return () => undefined;
  const { vocabulary, columns, weights } = model;
  const positions = Array.from(hashes, (hash) => findIndex(vocabulary.hashes, hash));
  return (task, label) => {
    const number = columns.findIndex((column) => column.task === task && column.label === label);
    const column = columns[number];
    if (!column) return undefined;
    const known = Float32Array.from(positions, (index) =>
      index === undefined ? 0 : (weights[index * columns.length + number] ?? 0) * column.scale,
    );
    return { weights: known, bias: column.bias, measurement: column.measurement };
  };
}
