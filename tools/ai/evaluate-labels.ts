import { type Analysis, analyse } from '../../services/intents/src/detection/analyse-text.ts';
import { extractFeatures } from '../../services/intents/src/learning/features.ts';
import type { Model } from '../../services/intents/src/learning/model.ts';
import { parseModel, serialiseModel } from '../../services/intents/src/learning/model-codec.ts';
import { train } from '../../services/intents/src/learning/train.ts';
import type { Example } from '../../services/intents/src/learning/training-examples.ts';
import type { LabelledTicket } from './labelled-tickets.ts';
import { byFrequency, percentile } from './measures.ts';
import { isMeasured } from './split.ts';

/** The time of an analysis is the median of this many runs, because other programs may run on the machine. */
export const runsPerTicket = 3;
/** Topics with fewer tickets are not measured. */
const minTopicTickets = 50;

/** A model that was learned from a part of the tickets, and its analyses of the others. */
export interface Trial {
  /** The names of the tags, by number. */
  tags: readonly string[];
  model: Model;
  bytes: number;
  /** How long it took to learn all, to learn it again with the model, and to read the model from bytes. */
  ms: { training: number; retraining: number; loading: number };
  learned: readonly LabelledTicket[];
  measured: readonly MeasuredTicket[];
}

/** A ticket that was not learned from, with its analysis. */
export interface MeasuredTicket {
  ticket: LabelledTicket;
  /** Null for a topic that is not measured. */
  topic: string | null;
  tags: ReadonlySet<number>;
  analysis: Analysis;
  ms: number;
}

/** Learns from one part of the tickets, and analyses the others. */
export function runTrial(tickets: readonly LabelledTicket[], tagCount: number, split: number): Trial {
  const labels = toLabels(tickets, tagCount);
  const learned = tickets.filter(({ text }) => !isMeasured(text, split));
  const examples = learned.map((ticket): Example => {
    const topic = labels.findTopic(ticket);
    const features = extractFeatures(ticket.text);
    return { features, tagIds: [...labels.readTags(ticket)], ...(topic === null ? {} : { topic }) };
  });
  const [trained, training] = timed(() => train(examples));
  const [, retraining] = timed(() => train(examples, trained));
  const bytes = serialiseModel(trained);
  const [model, loading] = timed(() => parseModel(bytes));
  const measured = tickets
    .filter(({ text }) => isMeasured(text, split))
    .map((ticket): MeasuredTicket => {
      const analysis = analyse(ticket.text, model);
      const times = Array.from({ length: runsPerTicket }, () => timed(() => analyse(ticket.text, model))[1]);
      const ms = percentile(times, 0.5);
      return { ticket, topic: labels.findTopic(ticket), tags: labels.readTags(ticket), analysis, ms };
    });
  const ms = { training, retraining, loading };
  return { tags: labels.tags, model, bytes: bytes.length, ms, learned, measured };
}

function toLabels(tickets: readonly LabelledTicket[], tagCount: number) {
  const tags = byFrequency(tickets.flatMap((ticket) => ticket.tags))
    .slice(0, tagCount)
    .map(([tag]) => tag);
  const topics = new Set(
    byFrequency(tickets.map(({ topic }) => topic))
      .filter(([topic, count]) => topic !== '' && count >= minTopicTickets)
      .map(([topic]) => topic),
  );
  return {
    tags,
    readTags: (ticket: LabelledTicket) =>
      new Set(ticket.tags.map((tag) => tags.indexOf(tag)).filter((tag) => tag !== -1)),
    findTopic: ({ topic }: LabelledTicket) => (topics.has(topic) ? topic : null),
  };
}

function timed<Result>(work: () => Result): [Result, number] {
  const startedAt = performance.now();
  const result = work();
  return [result, performance.now() - startedAt];
}
