import type { Calibration } from './calibration.ts';
import type { Quality } from './quality.ts';
import type { Vocabulary } from './vocabulary.ts';

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
  /** For each feature of the vocabulary the weights of all columns. */
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
