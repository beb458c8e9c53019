/** The limits of requests to a model. A token is about three bytes of text. */
export interface BudgetLimits {
  requestsPerMinute: number;
  tokensPerMinute: number;
}

/** The remaining requests and tokens of a minute, for this process. */
export interface DetectionBudget {
  /** Takes one request with its tokens. Returns false, and takes nothing, if either limit would be exceeded. */
  take(tokens: number): boolean;
  /** Takes the tokens that a request used beyond those taken, so that later requests wait for the next minute. */
  takeMore(tokens: number): void;
}

const windowMs = 60_000;

/** Opens a budget. A minute begins with the first request after the last one has ended. */
export function detectionBudget(limits: BudgetLimits, now: () => number): DetectionBudget {
  let window = { startedAt: Number.NEGATIVE_INFINITY, requests: 0, tokens: 0 };
  const current = () => {
    const age = now() - window.startedAt;
    if (age >= windowMs) window = { startedAt: now(), requests: 0, tokens: 0 };
    return window;
  };
  return {
    take(tokens) {
      const used = current();
      if (used.requests + 1 > limits.requestsPerMinute || used.tokens + tokens > limits.tokensPerMinute) return false;
      used.requests += 1;
      used.tokens += tokens;
      return true;
    },
    takeMore(tokens) {
      current().tokens += tokens;
    },
  };
}
