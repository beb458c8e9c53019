import { expect, test } from 'vitest';
import { type SyntheticTicket, syntheticTickets, tagIds, toExamples } from '../../test/synthetic-tickets.ts';
import { classify } from './classify.ts';
import { extractFeatures } from './features.ts';
import { minExamples } from './learn-tasks.ts';
import { emptyModel, type Model } from './model.ts';
import { serialiseModel } from './model-codec.ts';
import { train } from './train.ts';

const tickets = syntheticTickets(300);
const learned = train(toExamples(tickets));
const others = syntheticTickets(200, 2);

/** How often a model is right about tickets. */
function measureAccuracy(model: Model, measured: readonly SyntheticTicket[]) {
  const parts = measured.map(({ text, labels }) => {
    const { tags, topic, spamProbability } = classify(extractFeatures(text), model);
    return [
      topic?.label === labels.topic,
      (spamProbability ?? 0) >= 0.5 === labels.isSpam,
      tags.some(({ label }) => label === tagIds.urgent) === labels.tagIds.includes(tagIds.urgent),
    ].map(Number);
  });
  const [topic, spam, tag] = [0, 1, 2].map(
    (task) => parts.reduce((sum, part) => sum + (part[task] ?? 0), 0) / parts.length,
  );
  return { topic, spam, tag };
}

test('learns topics, tags and spam of tickets that it has not seen', () => {
  const { topic, spam, tag } = measureAccuracy(learned, others);
  expect(topic).toBeGreaterThan(0.95);
  expect(spam).toBeGreaterThan(0.95);
  expect(tag).toBeGreaterThan(0.95);
});

test('knows of each label how well it is found', () => {
  for (const { label, measurement } of learned.columns) {
    expect(measurement.examples, label).toBeGreaterThan(30);
    expect(measurement.precision, label).toBeGreaterThan(0.9);
    expect(measurement.recall, label).toBeGreaterThan(0.8);
  }
});

test('is not sure of labels that have nothing to do with the text', () => {
  const random = toExamples(tickets).map((example, index) => ({
    features: example.features,
    topic: ['a', 'b'][(index * 7 + Math.floor(index / 3)) % 2] ?? 'a',
    isSpam: index % 10 === 0,
  }));
  const model = train(random);
  const found = others.map(({ text }) => classify(extractFeatures(text), model));
  const mean = (values: readonly number[]) => values.reduce((sum, value) => sum + value, 0) / values.length;
  expect(mean(found.map(({ topic }) => topic?.confidence ?? 0))).toBeLessThan(0.65);
  expect(mean(found.map(({ spamProbability }) => spamProbability ?? 0))).toBeLessThan(0.2);
});

test('is the same whatever the order of the examples is, byte for byte', () => {
  const again = train(toExamples(tickets.toReversed()));
  expect(Buffer.compare(serialiseModel(again), serialiseModel(learned))).toBe(0);
});

test('comes to nearly the same result from a previous model', () => {
  const previous = train(toExamples(tickets.slice(0, 270)));
  const next = train(toExamples(tickets), previous);
  const [fresh, continued] = [measureAccuracy(learned, others), measureAccuracy(next, others)];
  expect(Math.abs((fresh.topic ?? 0) - (continued.topic ?? 0))).toBeLessThan(0.03);
  expect(Math.abs((fresh.tag ?? 0) - (continued.tag ?? 0))).toBeLessThan(0.03);
});

test('forgets what is no example any more, and learns corrections', () => {
  const renamed = toExamples(tickets).map((example) => ({
    ...example,
    tagIds: [],
    topic: example.topic === 'network' ? 'connectivity' : (example.topic ?? ''),
  }));
  const next = train(renamed, learned);
  expect(next.columns.map(({ label }) => label).sort()).toEqual(['billing', 'connectivity', 'delivery', 'spam']);
  const wrong = others.filter(({ text, labels }) => {
    const found = classify(extractFeatures(text), next).topic?.label;
    return (found === 'connectivity') !== (labels.topic === 'network');
  });
  expect(wrong.length / others.length).toBeLessThan(0.05);
});

test('measures again when there are a fifth more tickets', () => {
  const previous = { ...learned, measuredTickets: 250 };
  expect(train(toExamples(tickets.slice(0, 299)), previous).measuredTickets).toBe(250);
  expect(train(toExamples(tickets), previous).measuredTickets).toBe(300);
});

test('learns a label from ten examples, and not from nine', () => {
  const of = (count: number) =>
    toExamples(tickets).map((example, index) => ({ features: example.features, tagIds: index < count ? [1] : [] }));
  expect(train(of(minExamples - 1)).columns).toEqual([]);
  expect(train(of(minExamples)).columns.map(({ label }) => label)).toEqual(['1']);
  expect(train(of(tickets.length - minExamples + 1)).columns).toEqual([]);
});

test('learns nothing of what nobody has decided', () => {
  const undecided = toExamples(tickets).map(({ features }) => ({ features }));
  expect(train(undecided).columns).toEqual([]);
  expect(train([])).toEqual({ ...emptyModel(), tickets: 0 });
  const onlyOne = toExamples(tickets).map(({ features }) => ({ features, topic: 'all', isSpam: false }));
  expect(train(onlyOne).columns).toEqual([]);
});

test('finds nothing without a model', () => {
  expect(classify(extractFeatures({ subject: 'refund', body: 'invoice' }), emptyModel())).toEqual({
    tags: [],
    topic: null,
    spamProbability: null,
  });
});
