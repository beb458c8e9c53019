import type { Calibration } from './calibration.ts';
import type { Quality } from './quality.ts';
import type { Vocabulary } from './vocabulary.ts';

/** What a label is: a tag, one of the topics of which each ticket has one, or spam. */
export type Task = 'tag' | 'topic' | 'spam';

/** How far a label can be trusted, measured with texts that the measured model had not seen. */
export interface Measurement extends Quality {
  /** Of a topic: that it is right, if it is the most probable one. */
  calibration: Calibration;
}

/** One label that a model knows. */
export interface Column {
  task: Task;
  /** The id of a tag, or the name of a topic; `spam`. */
  label: string;
  /** What is added to the sum of the weights. */
  bias: number;
  /** The weights of the column are multiples of this. */
  scale: number;
  measurement: Measurement;
}

/**
 * What was learned from tickets. Besides the names of labels it contains numbers only: hashes of words and of parts of
 * words that occur in several tickets, and their weights. docs/decisions/0043 says what can be read from it.
 */
export interface Model {
  vocabulary: Vocabulary;
  columns: readonly Column[];
  /** For each feature of the vocabulary the weights of all columns. */
  weights: Int8Array;
  /** Tags at least so probable are proposed. */
  tagThreshold: number;
  /** From how many tickets it was learned. */
  tickets: number;
  /** How many there were when its columns and the threshold were measured. */
  measuredTickets: number;
}

/** A model that knows nothing: that of an installation without tagged tickets. */
export function emptyModel(): Model {
  const vocabulary = { hashes: new Uint32Array(), idf: new Float32Array() };
  return { vocabulary, columns: [], weights: new Int8Array(), tagThreshold: 0.5, tickets: 0, measuredTickets: 0 };
}
