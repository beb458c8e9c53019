import type { components } from './gen/openapi.ts';

/** The body of an error of the API (RFC 9457). */
export type Problem = components['schemas']['Problem'];

/** A violation in the input of a request. */
export type Violation = components['schemas']['Violation'];

/**
 * An error response of the API, or a response that did not come from the API, for example the page of a proxy.
 * Programs decide by `code`, which is stable; `message` is for people.
 */
export class ProblemError extends Error {
  override readonly name = 'ProblemError';
  /** The HTTP status. */
  readonly status: number;
  /** The stable code in snake_case; `unexpected_response` if the response did not come from the API. */
  readonly code: string;
  /** The violations in the input; empty unless the input is invalid. */
  readonly errors: readonly Violation[];
  /** Finds the request in the logs of the system. */
  readonly traceId: string | undefined;
  /** The headers of the response. */
  readonly headers: Headers;
  /** The whole problem document; undefined if the response is none. */
  readonly problem: Problem | undefined;

  /** `unexpected` describes the fault of a response that is no problem document. */
  constructor(response: Response, text: string, unexpected = 'the response is no problem document') {
    const problem = problemIn(text);
    super(describeProblem(response.status, problem, unexpected));
    this.status = response.status;
    this.code = problem?.code ?? 'unexpected_response';
    this.errors = problem?.errors ?? [];
    this.traceId = problem?.traceId;
    this.headers = response.headers;
    this.problem = problem;
  }
}

/** No complete response has arrived: the system cannot be reached, the connection broke, or the time ran out. */
export class ConnectionError extends Error {
  override readonly name = 'ConnectionError';
}

function describeProblem(status: number, problem: Problem | undefined, unexpected: string): string {
  if (!problem) return `${status}: ${unexpected}`;
  const violations = (problem.errors ?? []).map(({ pointer, detail }) => `${pointer}: ${detail}`);
  return [`${status} ${problem.code}: ${problem.detail ?? problem.title}`, ...violations].join('\n');
}

function problemIn(text: string): Problem | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return isProblem(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

function isProblem(value: unknown): value is Problem {
  return typeof value === 'object' && value !== null && 'code' in value && typeof value.code === 'string';
}
