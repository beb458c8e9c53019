import type { Call } from '@ticketing/service-kit/call/call.ts';
import { callerKey } from '@ticketing/service-kit/identity/caller.ts';
import type { PageBudget } from '@ticketing/store/paging/page-budget.ts';
import type { AdmitPage } from '../row/store/read.ts';

/** A later page waits for as long as other pages may hold their bytes, because its response has begun. */
const laterWaitMs = 60_000;

/**
 * Counts each page of rows in the page budget from before it is read until it is released. The client determines how
 * long that takes, so the page counts as one that is being sent.
 *
 * Errors of the function: too_much_at_once.
 */
export function pageAdmission(call: Call, budget: PageBudget): AdmitPage {
  const key = callerKey(call.caller);
  const whileStreaming = { signal: new AbortController().signal, waitMs: laterWaitMs };
  let wait: { signal: AbortSignal; waitMs?: number } = { signal: call.signal };
  return async (bytes) => {
    const ends: (() => void)[] = [];
    await budget.take(key, bytes, {
      ...wait,
      onEncoded: (done) => done(),
      onEnd: (done) => void ends.push(done),
      endResponse: () => call.endResponse(),
    });
    wait = whileStreaming;
    return () => {
      for (const end of ends) end();
    };
  };
}
