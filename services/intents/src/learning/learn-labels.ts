import { calibrate, toProbability } from './calibration.ts';
import { computeScore, fitLinear, type LinearWeights } from './fit-linear.ts';
import type { LinearProblem } from './linear-loss.ts';
import type { Measurement } from './model.ts';
import { bestThreshold, measureQuality } from './quality.ts';
import type { Vector } from './vocabulary.ts';

/** A text that labels are learned from. */
export interface LabelledVector {
  vector: Vector;
  /** The part of the examples with which it is left out. */
  fold: number;
  /** The numbers of its labels. */
  labels: ReadonlySet<number>;
}

/** The examples from which labels are learned. */
export interface Lesson {
  examples: readonly LabelledVector[];
  /** The number of features. */
  features: number;
  /** The number of labels. */
  count: number;
}

/** The number of parts for cross-validation: each part measures a model of the others. */
export const folds = 3;
/** The number of labels that are fitted at once; more would need more memory, and save little time. */
const labelsAtOnce = 16;

/** The weights of labels to start from, by number. */
type Start = readonly (LinearWeights | undefined)[];

/** Fits labels, each of which is right or wrong by itself. */
export function fitEach(lesson: Lesson, start: Start): LinearWeights[] {
  return splitBlocks(lesson).flatMap((block) => {
    return fitLinear(toProblem(block), start.slice(block.first, block.first + block.columns));
  });
}

/** Fits labels of which each example has exactly one. */
export function fitChoice(lesson: Lesson, start: Start): LinearWeights[] {
  return fitLinear(toProblem(toChoice(lesson)), start);
}

/**
 * Measures labels, each of which is right or wrong by itself. Without a threshold of the probability, it finds the one
 * with the highest F1 over all labels.
 */
export function measureEach(
  lesson: Lesson,
  givenThreshold?: number,
): { measurements: Measurement[]; threshold: number } {
  const { examples } = lesson;
  const labels = splitBlocks(lesson).flatMap((block) => {
    const scores = heldOutScores(block);
    return Array.from({ length: block.columns }, (_, column) => {
      const truth = examples.map((example) => example.labels.has(block.first + column));
      const ofLabel = scores.map((one) => one[column] ?? 0);
      const calibration = calibrate(ofLabel, truth);
      return { calibration, truth, probabilities: ofLabel.map((score) => toProbability(score, calibration)) };
    });
  });
  const guesses = labels.flatMap(({ probabilities, truth }) =>
    probabilities.map((probability, index) => ({ probability, isTrue: truth[index] ?? false })),
  );
  const threshold = givenThreshold ?? bestThreshold(guesses);
  const measurements = labels.map(({ calibration, probabilities, truth }) => {
    const found = probabilities.map((probability) => probability >= threshold);
    return { calibration, ...measureQuality(found, truth) };
  });
  return { measurements, threshold };
}

/** Measures labels of which each example has exactly one. */
export function measureChoice(lesson: Lesson): Measurement[] {
  const { examples, count } = lesson;
  const choices = heldOutScores(toChoice(lesson)).map(findBest);
  const hasLabel = (label: number) => (index: number) => examples[index]?.labels.has(label) ?? false;
  const calibration = calibrate(
    choices.map(({ logOdds }) => logOdds),
    choices.map(({ best }, index) => hasLabel(best)(index)),
  );
  return Array.from({ length: count }, (_, label) => {
    const chosen = choices.map(({ best }) => best === label);
    return { calibration, ...measureQuality(chosen, [...choices.keys()].map(hasLabel(label))) };
  });
}

/** Returns the label with the highest score, and the logarithm of how much more probable it is than all others together. */
export function findBest(scores: readonly number[]): { best: number; logOdds: number } {
  const highest = Math.max(...scores);
  const best = scores.indexOf(highest);
  const others = scores.reduce((sum, score, index) => sum + (index === best ? 0 : Math.exp(score - highest)), 0);
  // Beyond this, a difference of scores says nothing any more.
  return { best, logOdds: -Math.log(Math.max(others, 1e-9)) };
}

/** Labels from the number `first` on. */
interface Block extends Lesson {
  first: number;
  columns: number;
  isExclusive: boolean;
}

function toChoice(lesson: Lesson): Block {
  return { ...lesson, first: 0, columns: lesson.count, isExclusive: true };
}

function splitBlocks(lesson: Lesson): Block[] {
  return Array.from({ length: Math.ceil(lesson.count / labelsAtOnce) }, (_, number) => {
    const first = number * labelsAtOnce;
    return { ...lesson, first, columns: Math.min(labelsAtOnce, lesson.count - first), isExclusive: false };
  });
}

/** Scores the labels of each example by a model of the folds without it. */
function heldOutScores(block: Block): number[][] {
  // These fits start from nothing: weights of a model that has seen the examples would flatter it.
  const models = Array.from({ length: folds }, (_, left) =>
    fitLinear(toProblem({ ...block, examples: block.examples.filter(({ fold }) => fold !== left) })),
  );
  return block.examples.map(({ vector, fold }) => (models[fold] ?? []).map((weights) => computeScore(vector, weights)));
}

function toProblem({ examples, features, first, columns, isExclusive }: Block): LinearProblem {
  const labels = new Uint8Array(examples.length * columns);
  for (const [row, example] of examples.entries()) {
    for (const label of example.labels) {
      if (label >= first && label < first + columns) labels[row * columns + label - first] = 1;
    }
  }
  return { vectors: examples.map(({ vector }) => vector), features, labels, columns, isExclusive };
}
