import { extractFeatures, featuresToBytes } from '../../services/intents/src/learning/features.ts';
import { maxLabels, minExamples } from '../../services/intents/src/learning/learn-tasks.ts';
import type { Column } from '../../services/intents/src/learning/model.ts';
import { serialiseModel } from '../../services/intents/src/learning/model-codec.ts';
import { computeF1 } from '../../services/intents/src/learning/quality.ts';
import { train } from '../../services/intents/src/learning/train.ts';
import { type Cell, formatTable } from './format-table.ts';
import { type LabelledFile, readLabelledTickets } from './labelled-tickets.ts';
import { byFrequency, mean } from './measures.ts';

/**
 * Learns a model from all tickets of a file, as an installation does whose people have tagged them, and prints what would be
 * stored. Errors: UsageError.
 */
export async function describeTraining(file: LabelledFile, print: (text: string) => void): Promise<void> {
  const tickets = await readLabelledTickets(file);
  const tags = byFrequency(tickets.flatMap((ticket) => ticket.tags));
  const names = tags.map(([tag]) => tag);
  const numbers = new Map(names.map((tag, number) => [tag, number]));
  const examples = tickets.map((ticket) => ({
    features: extractFeatures(ticket.text),
    tagIds: ticket.tags.flatMap((tag) => numbers.get(tag) ?? []),
  }));
  const startedAt = process.cpuUsage();
  const model = train(examples);
  const { user, system } = process.cpuUsage(startedAt);
  const exampleBytes = mean(examples.map(({ features }) => featuresToBytes(features).length));
  const learnable = tags.filter(([, count]) => count >= minExamples).length;
  print(`${describeLabels(model.columns, names)}\n`);
  print(
    [
      `model: ${serialiseModel(model).length} bytes, ${model.vocabulary.hashes.length} features, ${model.columns.length} labels; tags are proposed from a confidence of ${model.tagThreshold.toFixed(3)}`,
      `examples: ${examples.length} of ${Math.round(exampleBytes)} bytes on average; learned in ${((user + system) / 1e6).toFixed(1)} s of CPU`,
      `tags: ${tags.length}, of which ${tags.length - learnable} have fewer than ${minExamples} tickets, and ${Math.max(0, learnable - maxLabels)} are beyond the ${maxLabels} most frequent`,
    ].join('\n'),
  );
}

/** Each label with how well it was found in tickets that the measured models had not seen. Returns a text. */
function describeLabels(columns: readonly Column[], names: readonly string[]): string {
  const rows = columns.map(({ label, measurement }): Cell[] => {
    const { examples, precision, recall } = measurement;
    return [names[Number(label)] ?? label, String(examples), precision, recall, computeF1(measurement)];
  });
  const macro = mean(columns.map(({ measurement }) => computeF1(measurement)));
  return formatTable(['Tag', 'tickets', 'precision', 'recall', 'F1'], [...rows, ['macro', null, null, null, macro]]);
}
