import { OutboundError } from '@ticketing/outbound/outbound-error.ts';
import type { OutboundGuard } from '@ticketing/outbound/outbound-guard.ts';
import { parseRetryAfter } from '@ticketing/outbound/retry-after.ts';
import type { Question } from './openai-question.ts';
import { DetectionFailure, type FailureReason } from './provider.ts';

/** A model behind an endpoint that is compatible with OpenAI. */
export interface ModelEndpoint {
  baseUrl: string;
  model: string;
  /** Undefined for an endpoint that demands none. */
  apiKey: string | undefined;
}

/** The limits of one question. Units: ms; `now` returns Unix ms. */
export interface AskOptions {
  deadlineMs: number;
  signal: AbortSignal;
  now(): number;
  /** Called with the tokens of an answer if the endpoint reports them, even if the answer cannot be used. */
  onTokens(tokens: number): void;
}

/** The most tokens of an answer, including reasoning tokens. */
const maxAnswerTokens = 4096;
const maxResponseBytes = 1024 * 1024;

/**
 * Asks a model once, and returns the text of its answer.
 *
 * Errors: a DetectionFailure; the reason of `signal`, once it aborts.
 */
export async function askModel(
  outbound: Pick<OutboundGuard, 'request'>,
  { baseUrl, model, apiKey }: ModelEndpoint,
  { messages, schema }: Question,
  { deadlineMs, signal, now, onTokens }: AskOptions,
): Promise<string> {
  // Loaded by the first question: it takes 30 MB, and most installations never ask.
  const { default: OpenAI } = await import('openai');
  let sendingError: unknown;
  const client = new OpenAI({
    baseURL: baseUrl,
    // The client would otherwise take these options from the environment. Only `fetch` knows the key, so that no error
    // of the client can contain it.
    apiKey: 'unused',
    adminAPIKey: null,
    organization: null,
    project: null,
    webhookSecret: null,
    logLevel: 'off',
    maxRetries: 0,
    timeout: deadlineMs + 1000,
    fetch: guardedFetch(outbound, {
      headers: apiKey === undefined ? {} : { authorization: `Bearer ${apiKey}` },
      deadlineMs,
      maxResponseBytes,
      signal,
      onError: (error) => {
        sendingError = error;
      },
    }),
  });
  try {
    const completion: unknown = await client.chat.completions.create({
      model,
      messages: [...messages],
      max_completion_tokens: maxAnswerTokens,
      response_format: { type: 'json_schema', json_schema: { name: 'ticket', strict: true, schema } },
    });
    const tokens = member(member(completion, 'usage'), 'total_tokens');
    if (typeof tokens === 'number' && Number.isSafeInteger(tokens) && tokens >= 0) onTokens(tokens);
    return readText(completion);
  } catch (error) {
    signal.throwIfAborted();
    throw toFailure(error, sendingError, now());
  }
}

/** Converts an error of the client. Its message contains parts of responses, so it is not passed on. */
function toFailure(error: unknown, sendingError: unknown, now: number): DetectionFailure {
  if (error instanceof DetectionFailure) return error;
  if (sendingError instanceof OutboundError) {
    const { kind, code } = sendingError;
    return new DetectionFailure(kind === 'timeout' ? 'timeout' : 'unreachable', {
      facts: code === undefined ? kind : `${kind} ${code}`,
    });
  }
  const { status, headers } = error as { status?: unknown; headers?: unknown };
  // Without a status, the body of a success could not be read.
  if (typeof status !== 'number') return new DetectionFailure('invalid_answer', { facts: 'no JSON' });
  const retryAt = headers instanceof Headers ? parseRetryAfter(headers.get('retry-after'), now) : undefined;
  return new DetectionFailure(toReason(status), {
    facts: `status ${status}`,
    retryAfterMs: retryAt === undefined ? undefined : Math.max(0, retryAt - now),
  });
}

function toReason(status: number): FailureReason {
  if (status === 429) return 'rate_limited';
  if (status >= 500) return 'server_error';
  return [400, 413, 422].includes(status) ? 'rejected' : 'denied';
}

/** Reads the text of an answer without trusting the types of the client: an endpoint may send anything. */
function readText(completion: unknown): string {
  const [choice] = asList(member(completion, 'choices'));
  const message = member(choice, 'message');
  const refusal = member(message, 'refusal');
  if (typeof refusal === 'string' && refusal !== '') throw new DetectionFailure('refusal');
  const finish = member(choice, 'finish_reason');
  if (finish === 'length' || finish === 'content_filter') throw new DetectionFailure('incomplete', { facts: finish });
  const text = member(message, 'content');
  if (typeof text !== 'string') throw new DetectionFailure('invalid_answer', { facts: 'no content' });
  return text;
}

function member(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null && Object.hasOwn(value, name)
    ? (value as Record<string, unknown>)[name]
    : undefined;
}

function asList(value: unknown): unknown[] {
  return Array.isArray(value) ? value : [];
}

/** The limits and the headers of a request. */
export interface GuardedFetchOptions {
  /** All headers besides those of the content. Headers that a library adds about this machine are not sent. */
  headers: Readonly<Record<string, string>>;
  deadlineMs: number;
  maxResponseBytes: number;
  signal: AbortSignal;
  /** Receives the error of a request without a response, which the library wraps in another error. */
  onError(error: unknown): void;
}

/** Returns a `fetch` for a library: its POST requests are made by the outbound guard, one by one, without redirects. */
function guardedFetch(outbound: Pick<OutboundGuard, 'request'>, options: GuardedFetchOptions): typeof fetch {
  const { headers, deadlineMs, maxResponseBytes, signal, onError } = options;
  return async (url, init) => {
    try {
      if (init?.method !== 'POST' || typeof init.body !== 'string') throw new OutboundError('request_refused');
      const response = await outbound.request({
        url: String(url),
        method: 'POST',
        headers: { accept: 'application/json', 'content-type': 'application/json', ...headers },
        body: init.body,
        deadlineMs,
        maxResponseBytes,
        longResponse: 'refuse',
        maxRedirects: 0,
        signal,
      });
      return toResponse(response);
    } catch (error) {
      onError(error);
      throw error;
    }
  };
}

function toResponse({ status, headers, body }: Awaited<ReturnType<OutboundGuard['request']>>): Response {
  // A Response refuses any other status.
  if (status < 200 || status > 599) throw new OutboundError('protocol_error', { status });
  const hasBody = ![204, 205, 304].includes(status);
  const passed: Record<string, string> = {};
  for (const name of ['content-type', 'retry-after']) {
    const value = headers[name];
    if (typeof value === 'string') passed[name] = value;
  }
  return new Response(hasBody ? Uint8Array.from(body) : null, { status, headers: passed });
}
