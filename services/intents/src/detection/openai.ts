import type { OutboundGuard } from '@ticketing/outbound/outbound-guard.ts';
import type { Runtime } from '@ticketing/runtime/runtime.ts';
import type { SecretReader } from '@ticketing/service-kit/settings/secret-reader.ts';
import { readText } from '../learning/ticket-text.ts';
import { askModel, type ModelEndpoint } from './ask-model.ts';
import { allKeywords, findKeywords, withKeywords } from './keywords.ts';
import { readAnswer } from './openai-answer.ts';
import { detectionBudget, endpointGuards, type OpenaiLimits, withRetries } from './openai-limits.ts';
import { buildQuestion, type Question } from './openai-question.ts';
import { DetectionFailure, type DetectionRequest } from './provider.ts';
import type { Detected } from './rules/detected.ts';

/** Where the model is, as the settings say. */
export interface OpenaiSettings {
  aiBaseUrl: string | null;
  aiModel: string | null;
  /** The version of the settings, which rises with each change, including changes of the key. */
  version: number;
}

/** The dependencies of the provider. */
export interface OpenaiParts {
  settings(): Promise<OpenaiSettings>;
  readKey: SecretReader;
  outbound: Pick<OutboundGuard, 'request'>;
  runtime: Runtime;
  limits: OpenaiLimits;
  /** Called with the tokens of each answer, if the endpoint counts them. */
  onTokens(tokens: number): void;
}

/** Detects by a model. Errors: a DetectionFailure; the reason of `signal`, once it aborts; those of the settings. */
export type DetectByModel = (request: DetectionRequest, signal: AbortSignal) => Promise<Detected>;

/**
 * Opens the provider `openai`. It sends a ticket to the endpoint that the settings name, within the limits, and takes
 * from the answer what the request allows.
 *
 * Source: docs/reference/api.md, Detection.
 */
export function openaiDetection(parts: OpenaiParts): DetectByModel {
  const { runtime, limits } = parts;
  const budget = detectionBudget(limits, runtime.monotonicMs);
  const openGuard = endpointGuards(limits);
  const ask = async (endpoint: ModelEndpoint, question: Question, { leftMs, signal }: Limit) => {
    const expected = estimateTokens(question);
    if (!budget.take(expected)) throw new DetectionFailure('budget');
    return askModel(parts.outbound, endpoint, question, {
      deadlineMs: Math.max(1, leftMs()),
      signal,
      now: runtime.now,
      onTokens(tokens) {
        budget.takeMore(Math.max(0, tokens - expected));
        parts.onTokens(tokens);
      },
    });
  };
  const detect = async (request: DetectionRequest, limit: Limit): Promise<Detected> => {
    const { version, ...endpoint } = await readEndpoint(parts);
    const question = await buildQuestion(request, limit.signal);
    const text = await openGuard(`${version} ${endpoint.baseUrl}`)(() =>
      withRetries(() => limit.failing(ask(endpoint, question, limit)), { ...limit, random: runtime.random }),
    );
    const { words } = readText(request.text);
    const contained = new Set(findKeywords(words, allKeywords(request)));
    return withKeywords(readAnswer(text, question.schema), request, contained);
  };
  return async (request, signal) => {
    const limit = openLimit(signal, limits.timeoutMs);
    return limit.failing(orAborted(detect(request, limit), limit.signal));
  };
}

/** The time of a detection. */
interface Limit {
  leftMs(): number;
  /** Aborts at the end of the time, or with the caller's signal. */
  signal: AbortSignal;
  /** Settles with the work, but with the reason of the caller's signal, or `timeout`, if one of them has ended it. */
  failing<Result>(work: Promise<Result>): Promise<Result>;
}

function openLimit(callers: AbortSignal, timeoutMs: number): Limit {
  const startedAt = performance.now();
  const timeout = AbortSignal.timeout(timeoutMs);
  return {
    leftMs: () => timeoutMs - (performance.now() - startedAt),
    signal: AbortSignal.any([callers, timeout]),
    async failing(work) {
      try {
        return await work;
      } catch (error) {
        callers.throwIfAborted();
        throw timeout.aborted && !(error instanceof DetectionFailure) ? new DetectionFailure('timeout') : error;
      }
    },
  };
}

async function readEndpoint({ settings, readKey }: OpenaiParts): Promise<ModelEndpoint & { version: number }> {
  const { aiBaseUrl, aiModel, version } = await settings();
  if (aiBaseUrl === null || aiModel === null) throw new DetectionFailure('not_configured');
  const apiKey = await readKey(version).catch(() => {
    throw new DetectionFailure('key_unavailable');
  });
  return { baseUrl: aiBaseUrl, model: aiModel, apiKey, version };
}

/** Estimates the tokens of a question with a short answer. Most texts have more bytes in a token than it assumes. */
function estimateTokens(question: Question): number {
  return Math.ceil(Buffer.byteLength(JSON.stringify(question)) / 3) + 200;
}

/** Settles with the work, or fails when the signal aborts: work that waits for its turn does not see the signal. */
async function orAborted<Result>(work: Promise<Result>, signal: AbortSignal): Promise<Result> {
  const { promise, reject } = Promise.withResolvers<never>();
  const onAbort = () => reject(signal.reason);
  if (signal.aborted) onAbort();
  signal.addEventListener('abort', onAbort);
  try {
    return await Promise.race([work, promise]);
  } finally {
    signal.removeEventListener('abort', onAbort);
  }
}
