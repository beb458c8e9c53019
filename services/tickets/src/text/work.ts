import type { Logger } from '@ticketing/runtime/logger.ts';
import { runWithinLimits } from '@ticketing/sandbox/repeat-crashed.ts';
import { openSandbox, type SandboxLimits } from '@ticketing/sandbox/sandbox.ts';
import { maxWordsTextLength, splitWords } from '@ticketing/text/words.ts';
import type { BodyFunctions } from './body.worker.ts';
import { mailText } from './rules/body-text.ts';
import { type BodyTexts, bodyRules, bodyTexts, unconvertedTexts } from './rules/body-texts.ts';

/**
 * Work on texts that customers wrote. Work that surely takes only a few milliseconds is done at once, all other work in
 * a separate process (docs/decisions/0023). `actor` causes the work: each actor has a share of the work that may wait.
 *
 * Errors of every operation: sandbox_busy, if too many long texts wait; sandbox_crashed, if two processes ended in the
 * work, but none because of a limit.
 */
export interface TextWork {
  /**
   * The fields that are made of a body. A body beyond the limits of the worker is shown and read as it is, and so is one
   * that `isText`.
   */
  bodyFields(body: string | null, actor: TextActor, isText?: boolean): Promise<BodyFields>;
  /** The text part of a mail with some HTML; `plain`, beyond the limits of the worker. */
  mailText(html: string, plain: string, actor: TextActor): Promise<string>;
  /** The words of texts; beyond the limits of the worker, those of the short texts. */
  words(texts: Texts, actor: TextActor): Promise<string[]>;
  close(): Promise<void>;
}

type Texts = readonly (string | number | null)[];

/** The actor that causes the work. */
interface TextActor {
  profileId: number | null;
  kind: string;
  /** The name of a service that acts on its own behalf. */
  service?: string | null;
}

/** The fields that are made of a body, and the number of the rules by which they were made. */
interface BodyFields {
  bodyHtml: BodyTexts['bodyHtml'];
  bodyPlain: string | null;
  bodyClean: string | null;
  bodyRules: number;
}

/**
 * Texts are converted at once if their number of `<` and a fiftieth of their characters add up to at most this. It takes
 * about 4 ms, and at most 10. Measured: docs/decisions/0023.
 */
const maxCostAtOnce = 1350;
const charsPerCost = 50;
/** The words of more characters are not split at once: some characters become many. */
const maxSplitAtOnce = 20_000;

const limits: SandboxLimits = {
  // The worst body of 5 MiB that we know takes 2.5 s.
  timeoutMs: 10_000,
  maxHeapMb: 256,
  maxOutputBytes: 16 * 1024 * 1024,
  maxWorkers: 2,
  // Takes about 50 ms.
  longRunBytes: 256 * 1024,
  maxQueued: 64,
  maxQueuedBytes: 64 * 1024 * 1024,
  maxQueuedPerCaller: 16,
  maxQueuedBytesPerCaller: 16 * 1024 * 1024,
  idleMs: 30_000,
};

/** Opens the conversion of texts. Tests replace the limits, and the sandbox. */
export function openTextWork(
  log: Logger,
  changedLimits: Partial<SandboxLimits> = {},
  open: typeof openSandbox<BodyFunctions> = openSandbox,
): TextWork {
  const sandbox = open(new URL('./body.worker.ts', import.meta.url), { ...limits, ...changedLimits });
  const warning = 'a text was not converted, because its worker exceeded a limit';
  const inSandbox = <Result>(work: () => Promise<Result>, instead: () => Result) =>
    runWithinLimits(work, log, warning, instead);
  return {
    async bodyFields(body, actor, isText) {
      if (body === null) return { bodyHtml: null, bodyPlain: null, bodyClean: null, bodyRules: 0 };
      const convert = () => sandbox.run(actorKey(actor), 'bodyTexts', body, isText);
      const texts = isShort([body]) ? bodyTexts(body, isText) : await inSandbox(convert, () => unconvertedTexts(body));
      return { ...texts, bodyRules };
    },
    async mailText(html, plain, actor) {
      if (isShort([html])) return mailText(html);
      return inSandbox(
        () => sandbox.run(actorKey(actor), 'mailText', html),
        () => plain,
      );
    },
    async words(texts, actor) {
      const read = texts.map((text) => (typeof text === 'string' ? text.slice(0, maxWordsTextLength) : text));
      const length = read.reduce<number>((sum, text) => sum + (typeof text === 'string' ? text.length : 0), 0);
      if (length <= maxSplitAtOnce) return splitWords(read);
      const split = () => sandbox.run(actorKey(actor), 'splitWords', read);
      return inSandbox(split, () => splitWords(read.filter((text) => typeof text !== 'string' || text.length <= 1000)));
    },
    close: () => sandbox.close(),
  };
}

function isShort(texts: Texts): boolean {
  const written = texts.filter((text) => typeof text === 'string');
  let cost = written.reduce((sum, text) => sum + text.length, 0) / charsPerCost;
  for (const text of written) if (cost <= maxCostAtOnce) cost += countTags(text);
  return cost <= maxCostAtOnce;
}

function countTags(text: string): number {
  let count = 0;
  for (let at = text.indexOf('<'); at !== -1; at = text.indexOf('<', at + 1)) count += 1;
  return count;
}

/** Names an actor, for its share of the work. */
function actorKey({ profileId, kind, service = null }: TextActor): string {
  return `${kind} ${profileId ?? service}`;
}
