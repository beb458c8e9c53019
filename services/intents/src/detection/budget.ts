/** How much may be sent to a model. A token is about three bytes of text. */
export interface BudgetLimits {
  requestsPerMinute: number;
  tokensPerMinute: number;
}

/** What is left of the requests and tokens of a minute, for this process. */
export interface DetectionBudget {
  /** Takes one request of so many tokens. Returns false, and takes nothing, if either is used up. */
  take(tokens: number): boolean;
  /** Takes tokens that were used beyond what was taken, so that later requests wait for the next minute. */
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
