import type { LinearWeights } from './fit-linear.ts';
import type { Column, Measurement, Model, Task } from './model.ts';
import { findIndex, type Vocabulary } from './vocabulary.ts';

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
