import { fitChoice, fitEach, type LabelledVector, measureChoice, measureEach } from './learn-labels.ts';
import type { KnownLabel, LearnedLabel, Measurement, Task } from './model.ts';
import type { PreparedExample } from './training-examples.ts';

/** The fewest examples with a label, and the fewest without it, from which it is learned. */
export const minExamples = 10;
/** The most tags, and the most topics, that are learned: the ones with the most examples. */
export const maxLabels = 200;
/** A ticket is spam if that is more probable than not. */
export const spamThreshold = 0.5;

/** The input from which tasks are learned. */
export interface Course {
  prepared: readonly PreparedExample[];
  features: number;
  /** Finds a label of the previous model. */
  known: (task: Task, label: string) => KnownLabel | undefined;
  /** The threshold of the previous model, if its measurements are still used. */
  knownThreshold: number | undefined;
}

/** Learns which tags tickets have. */
export function learnTags(course: Course): { labels: LearnedLabel[]; threshold: number } {
  const tagged = course.prepared.flatMap(({ vector, fold, tagIds }) =>
    tagIds ? [{ vector, fold, tags: new Set(tagIds) }] : [],
  );
  const tagIds = frequentLabels(tagged.flatMap(({ tags }) => [...tags]))
    .filter(([, count]) => tagged.length - count >= minExamples)
    .map(([tagId]) => tagId);
  const examples = tagged.map(({ tags, ...example }) => ({
    ...example,
    labels: new Set(tagIds.flatMap((tagId, number) => (tags.has(tagId) ? [number] : []))),
  }));
  const lesson = { examples, features: course.features, count: tagIds.length };
  const known = tagIds.map((tagId) => course.known('tag', String(tagId)));
  const kept = keptMeasurements(course, known);
  const { measurements, threshold } =
    kept && course.knownThreshold !== undefined
      ? { measurements: kept, threshold: course.knownThreshold }
      : measureEach(lesson);
  return { labels: combineLabels('tag', tagIds.map(String), fitEach(lesson, known), measurements), threshold };
}

/** Learns which topic tickets have. */
export function learnTopics(course: Course): LearnedLabel[] {
  const topics = frequentLabels(course.prepared.flatMap(({ topic }) => topic ?? [])).map(([topic]) => topic);
  if (topics.length < 2) return [];
  const examples = course.prepared.flatMap(({ vector, fold, topic }): LabelledVector[] => {
    const number = topic === undefined ? -1 : topics.indexOf(topic);
    return number === -1 ? [] : [{ vector, fold, labels: new Set([number]) }];
  });
  const lesson = { examples, features: course.features, count: topics.length };
  const known = topics.map((topic) => course.known('topic', topic));
  const measurements = keptMeasurements(course, known) ?? measureChoice(lesson);
  return combineLabels('topic', topics, fitChoice(lesson, known), measurements);
}

/** Learns to recognise spam. */
export function learnSpam(course: Course): LearnedLabel[] {
  const examples = course.prepared.flatMap(({ vector, fold, isSpam }): LabelledVector[] =>
    isSpam === undefined ? [] : [{ vector, fold, labels: new Set(isSpam ? [0] : []) }],
  );
  const spam = examples.filter(({ labels }) => labels.has(0)).length;
  if (Math.min(spam, examples.length - spam) < minExamples) return [];
  const lesson = { examples, features: course.features, count: 1 };
  const known = [course.known('spam', 'spam')];
  const measurements = keptMeasurements(course, known) ?? measureEach(lesson, spamThreshold).measurements;
  return combineLabels('spam', ['spam'], fitEach(lesson, known), measurements);
}

/** Returns the measurements of the previous model, if they are still used and it knows all labels. */
function keptMeasurements(
  { knownThreshold }: Course,
  known: readonly (KnownLabel | undefined)[],
): Measurement[] | undefined {
  const measurements = known.flatMap((label) => (label ? [label.measurement] : []));
  return knownThreshold !== undefined && measurements.length === known.length ? measurements : undefined;
}

function combineLabels(
  task: Task,
  names: readonly string[],
  fitted: readonly Pick<LearnedLabel, 'weights' | 'bias'>[],
  measurements: readonly Measurement[],
): LearnedLabel[] {
  return names.flatMap((label, number) => {
    const [fit, measurement] = [fitted[number], measurements[number]];
    return fit && measurement ? [{ ...fit, task, label, measurement }] : [];
  });
}

/** Returns the labels with enough examples, the most frequent first. */
function frequentLabels<Label extends number | string>(labels: readonly Label[]): [Label, number][] {
  const counts = new Map<Label, number>();
  for (const label of labels) counts.set(label, (counts.get(label) ?? 0) + 1);
  return [...counts]
    .filter(([, count]) => count >= minExamples)
    .sort(([left, leftCount], [right, rightCount]) => rightCount - leftCount || (left < right ? -1 : 1))
    .slice(0, maxLabels);
}
