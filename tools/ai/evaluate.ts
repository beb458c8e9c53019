import { findSentiment } from '../../services/intents/src/detection/sentiment.ts';
import { summarise } from '../../services/intents/src/detection/summary.ts';
import { readText } from '../../services/intents/src/learning/ticket-text.ts';
import { runTrial } from './evaluate-labels.ts';
import { evaluateLanguage } from './evaluate-language.ts';
import { evaluateSpam } from './evaluate-spam.ts';
import { describeTags, describeTimes, describeTopics, type LabelFigures, toFigures } from './label-figures.ts';
import { type LabelledFile, type LabelledTicket, readLabelledTickets } from './labelled-tickets.ts';
import { mean } from './measures.ts';
import { sentimentExamples } from './sentiment-examples.ts';

/** The options of `npm run ai -- evaluate`. */
interface EvaluateOptions extends LabelledFile {
  /** A folder with the spam corpus. */
  spamFolder: string | undefined;
  /** How many ways of splitting the rows are measured. */
  splits: number;
  tags: number;
}

/** Measures the builtin analysis, and prints tables. Errors: UsageError. */
export async function evaluate(options: EvaluateOptions, print: (text: string) => void): Promise<void> {
  const tickets = await readLabelledTickets(options);
  print(`${await evaluateLanguage(tickets)}\n`);
  const figures: LabelFigures[] = [];
  for (let split = 0; split < options.splits; split += 1) {
    const trial = runTrial(tickets, options.tags, split);
    figures.push(toFigures(trial));
    if (split > 0) continue;
    print(`${trial.learned.length} tickets to learn from, ${trial.measured.length} to measure with\n`);
    for (const text of [describeTopics(trial), describeTags(trial), describeTimes(trial)]) print(`${text}\n`);
  }
  if (options.splits > 1) print(`${describeSplits(figures)}\n`);
  print(`${describeSentiment()}\n${describeSummaries(tickets)}\n`);
  if (options.spamFolder !== undefined) print(await evaluateSpam(options.spamFolder, options.splits));
}

function describeSplits(figures: readonly LabelFigures[]): string {
  const lines = (['topicF1', 'tagF1'] as const).map((name) => {
    const values = figures.map((one) => one[name]);
    return `${name} of ${values.length} splits: ${values.map((value) => value.toFixed(3)).join(' ')}, mean ${mean(values).toFixed(4)}`;
  });
  return lines.join('\n');
}

/** The sentences are by the author of the word list: they show what it covers, and not how often it is right. */
function describeSentiment(): string {
  const right = sentimentExamples.filter(([label, language, text]) => {
    const { words } = readText({ subject: null, body: text });
    return findSentiment(words, language)?.label === label;
  });
  return `sentiment: ${right.length} of ${sentimentExamples.length} sentences that were written for the word list`;
}

/** Measures how many words of the subject the summary of the body contains, without having seen the subject. */
function describeSummaries(tickets: readonly LabelledTicket[]): string {
  const parts = tickets.flatMap(({ text, language }) => {
    const { subject, body } = readText(text);
    const sought = longWords(subject);
    const summary = summarise('', body, language);
    if (sought.size === 0 || summary === null) return [];
    return { summary: measurePart(sought, summary), beginning: measurePart(sought, body.slice(0, summary.length)) };
  });
  const [summary, beginning] = [mean(parts.map((part) => part.summary)), mean(parts.map((part) => part.beginning))];
  return `summary: ${summary.toFixed(3)} of the words of subjects; baseline, as many characters of the beginning: ${beginning.toFixed(3)}`;
}

function measurePart(sought: ReadonlySet<string>, text: string): number {
  const words = longWords(text);
  return [...sought].filter((word) => words.has(word)).length / sought.size;
}

function longWords(text: string): Set<string> {
  return new Set(text.toLowerCase().match(/\p{L}{4,}/gu) ?? []);
}
