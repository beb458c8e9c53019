import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { classify } from '../../services/intents/src/learning/classify.ts';
import { extractFeatures } from '../../services/intents/src/learning/features.ts';
import { spamThreshold } from '../../services/intents/src/learning/learn-tasks.ts';
import { computeF1, measureQuality, type Quality } from '../../services/intents/src/learning/quality.ts';
import type { TicketText } from '../../services/intents/src/learning/ticket-text.ts';
import { train } from '../../services/intents/src/learning/train.ts';
import { parseMail } from '../../services/tickets/src/inbound-mail/parse.ts';
import { defaultSettings } from '../../services/tickets/src/settings.ts';
import { bodyTexts } from '../../services/tickets/src/text/rules/body-texts.ts';
import { isProgrammatic } from '../../services/tickets/src/ticket/rules/spam.ts';
import { programRules } from '../../services/tickets/src/ticket/rules/subchannels.ts';
import { UsageError } from '../cli/command.ts';
import { formatTable } from './format-table.ts';
import { calibrationError } from './measures.ts';
import { isMeasured } from './split.ts';

/** The groups of the corpus, and whether they are spam. */
const groups = [
  ['easy-ham-1', false],
  ['easy-ham-2', false],
  ['hard-ham-1', false],
  ['spam-1', true],
  ['spam-2', true],
] as const;

interface Mail {
  text: TicketText;
  isSpam: boolean;
  isProgrammatic: boolean;
}

/** Measures spam on the SpamAssassin corpus, with texts as tickets have them. Returns a text. Errors: UsageError. */
export async function evaluateSpam(folder: string, splits: number): Promise<string> {
  const mails: Mail[] = [];
  for (const [group, isSpam] of groups) mails.push(...(await readGroup(join(folder, group), isSpam)));
  const trials = Array.from({ length: splits }, (_, split) => runSpamTrial(mails, split));
  const { right, found, claims, ruled } = trials[0] ?? runSpamTrial(mails, 0);
  const toRow = (name: string, quality: Quality, error: number | null) => [
    name,
    String(quality.examples),
    quality.precision,
    quality.recall,
    computeF1(quality),
    error,
  ];
  const all = right.map(() => true);
  return [
    `Spam: ${mails.length} mails, ${right.length} of them measured`,
    '',
    formatTable(
      ['', 'spam', 'precision', 'recall', 'F1', 'calibration error'],
      [
        toRow('classifier alone', measureQuality(found, right), calibrationError(claims)),
        toRow('header rule alone', measureQuality(ruled, right), null),
        toRow('baseline: everything', measureQuality(all, right), null),
      ],
    ),
    ...(splits > 1
      ? [
          `F1 of ${splits} splits: ${trials.map((one) => computeF1(measureQuality(one.found, one.right)).toFixed(3)).join(' ')}`,
        ]
      : []),
  ].join('\n');
}

function runSpamTrial(mails: readonly Mail[], split: number) {
  const model = train(
    mails
      .filter(({ text }) => !isMeasured(text, split))
      .map(({ text, isSpam }) => ({ features: extractFeatures(text), isSpam })),
  );
  const measured = mails.filter(({ text }) => isMeasured(text, split));
  const probabilities = measured.map(({ text }) => classify(extractFeatures(text), model).spamProbability ?? 0);
  const right = measured.map(({ isSpam }) => isSpam);
  return {
    right,
    found: probabilities.map((probability) => probability >= spamThreshold),
    claims: probabilities.map((confidence, index) => ({ confidence, isRight: right[index] ?? false })),
    ruled: measured.map((mail) => mail.isProgrammatic),
  };
}

async function readGroup(folder: string, isSpam: boolean): Promise<Mail[]> {
  const names = await readdir(folder).catch(() => {
    throw new UsageError(`Cannot read ${folder} (--help explains the flag --spam).`);
  });
  const mails: Mail[] = [];
  for (const name of names.filter((one) => one.endsWith('.txt')).sort()) {
    const mail = await parseMail(await readFile(join(folder, name)));
    if ('problem' in mail) continue;
    const body = mail.body === null ? null : bodyTexts(mail.body, !mail.isHtml).bodyPlain;
    const isRuled = isProgrammatic(programRules(defaultSettings), mail.headers);
    mails.push({ text: { subject: mail.subject, body }, isSpam, isProgrammatic: isRuled });
  }
  return mails;
}
