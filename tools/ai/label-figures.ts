import { computeF1, measureQuality, type Quality } from '../../services/intents/src/learning/quality.ts';
import { type MeasuredTicket, runsPerTicket, type Trial } from './evaluate-labels.ts';
import { type Cell, formatTable } from './format-table.ts';
import {
  byFrequency,
  calibrationError,
  macroF1,
  mean,
  microQuality,
  mostFrequent,
  percentile,
  qualities,
} from './measures.ts';

/** The figures of one trial that are compared between splits, and with other programs. */
export interface LabelFigures {
  topicF1: number;
  tagF1: number;
}

/** The two figures that are compared. */
export function toFigures({ measured, tags }: Trial): LabelFigures {
  const { chosen, right } = listTopics(measured);
  return { topicF1: macroF1(chosen, right), tagF1: computeF1(tagQuality(measured, [...tags.keys()])) };
}

/** All figures of topics, with those of choosing the most frequent one always. Returns a text. */
export function describeTopics({ measured, learned }: Trial): string {
  const { chosen, right, claims } = listTopics(measured);
  const frequent = mostFrequent(learned.map(({ topic }) => topic)) ?? '';
  const always = right.map(() => frequent);
  const alwaysF1 = qualities(always, right);
  const rows = [...qualities(chosen, right)].map(([topic, quality]): Cell[] => [
    topic,
    ...toCells(quality),
    computeF1(alwaysF1.get(topic) ?? { examples: 0, precision: null, recall: null }),
  ]);
  const accuracy = mean(claims.map(({ isRight }) => (isRight ? 1 : 0)));
  const baseline = mean(right.map((topic) => (topic === frequent ? 1 : 0)));
  return [
    formatTable(header('Topic'), [
      ...rows,
      ['macro F1', String(right.length), null, null, macroF1(chosen, right), macroF1(always, right)],
    ]),
    `accuracy ${accuracy.toFixed(3)} (baseline ${baseline.toFixed(3)}), calibration error ${calibrationError(claims).toFixed(3)}`,
  ].join('\n');
}

/** All figures of tags, with those of finding them in every ticket. Returns a text. */
export function describeTags({ measured, learned, tags }: Trial): string {
  const numbers = [...tags.keys()];
  const rows = tags.map((tag, number): Cell[] => {
    const right = measured.map(({ tags: own }) => own.has(number));
    const found = measured.map(({ analysis }) => analysis.tags.some(({ label }) => label === number));
    const always = measureQuality(
      right.map(() => true),
      right,
    );
    return [tag, ...toCells(measureQuality(found, right)), computeF1(always)];
  });
  const [frequent] = byFrequency(learned.flatMap((ticket) => ticket.tags));
  const always = new Set([tags.indexOf(frequent?.[0] ?? '')]);
  const right = measured.map((one) => one.tags);
  const baseline = microQuality(
    right.map(() => always),
    right,
    numbers,
  );
  const claims = measured.flatMap(({ analysis, tags: own }) =>
    analysis.tags.map(({ label, confidence }) => ({ confidence, isRight: own.has(label) })),
  );
  return [
    formatTable(header('Tag'), [...rows, ['micro', ...toCells(tagQuality(measured, numbers)), computeF1(baseline)]]),
    `calibration error of ${claims.length} proposed tags ${calibrationError(claims).toFixed(3)}`,
  ].join('\n');
}

/** The times of a trial, and the size of its model. Returns a text. */
export function describeTimes({ measured, learned, model, bytes, ms }: Trial): string {
  const times = measured.map((one) => one.ms);
  return [
    `analysis of a ticket (median of ${runsPerTicket} runs): p50 ${percentile(times, 0.5).toFixed(2)} ms, p95 ${percentile(times, 0.95).toFixed(2)} ms`,
    `model: ${bytes} bytes, ${model.vocabulary.hashes.length} features, ${model.columns.length} labels; read in ${ms.loading.toFixed(0)} ms`,
    `learning from ${learned.length} tickets: ${(ms.training / 1000).toFixed(1)} s, with the previous model ${(ms.retraining / 1000).toFixed(1)} s`,
  ].join('\n');
}

function listTopics(measured: readonly MeasuredTicket[]) {
  const known = measured.flatMap(({ topic, analysis }) => (topic === null ? [] : [{ topic, found: analysis.topic }]));
  return {
    chosen: known.map(({ found }) => found?.label ?? ''),
    right: known.map(({ topic }) => topic),
    claims: known.map(({ topic, found }) => ({ confidence: found?.confidence ?? 0, isRight: found?.label === topic })),
  };
}

function tagQuality(measured: readonly MeasuredTicket[], numbers: readonly number[]): Quality {
  const found = measured.map(({ analysis }) => new Set(analysis.tags.map(({ label }) => label)));
  return microQuality(
    found,
    measured.map(({ tags }) => tags),
    numbers,
  );
}

function header(name: string): string[] {
  return [name, 'tickets', 'precision', 'recall', 'F1', 'baseline F1'];
}

function toCells(quality: Quality): Cell[] {
  return [String(quality.examples), quality.precision, quality.recall, computeF1(quality)];
}
