import { learnSpam, learnTags, learnTopics } from './learn-tasks.ts';
import { knownLabels, type Model, roundWeights } from './model.ts';
import { type Example, prepareExamples } from './training-examples.ts';

/** The growth of the number of tickets up to which a measurement is used. */
const measureAgainAt = 1.2;

/**
 * Learns a model from all examples. With the `previous` model it takes a small part of the time and comes to nearly the
 * same result: a removed example is forgotten, and a corrected one is learned as if it had never been wrong. There is
 * no randomness in it, and the order of the examples does not matter.
 *
 * The reliability of labels is measured with texts that the measured model had not seen. This takes most of the time,
 * so the measurements of the previous model are used until there are a fifth more examples, or new labels.
 */
export function train(examples: readonly Example[], previous?: Model): Model {
  const { prepared, vocabulary } = prepareExamples(examples);
  const usesMeasured = previous !== undefined && examples.length < measureAgainAt * previous.measuredTickets;
  const course = {
    prepared,
    features: vocabulary.hashes.length,
    known: knownLabels(previous, vocabulary),
    knownThreshold: usesMeasured ? previous.tagThreshold : undefined,
  };
  const { labels: tags, threshold } = learnTags(course);
  const labels = [...tags, ...learnTopics(course), ...learnSpam(course)];
  return {
    vocabulary,
    ...roundWeights(labels, vocabulary),
    tagThreshold: threshold,
    tickets: examples.length,
    measuredTickets: usesMeasured ? previous.measuredTickets : examples.length,
  };
}
