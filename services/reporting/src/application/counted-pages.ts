import { callerKey } from '@ticketing/service-kit/identity/caller.ts';
import type { Call } from '@ticketing/service-kit/server/call.ts';
import type { PageBudget } from '@ticketing/store/page-budget.ts';
import type { RowDocument } from '../store/row-model.ts';

/** A later page waits for as long as others may hold their bytes: its response has begun. */
const laterWaitMs = 60_000;

/**
 * Counts each page of rows in the page budget from its arrival until the next one is asked for. How long that takes
 * depends on the client, so the page counts as one that is being sent.
 *
 * Errors: too_much_at_once.
 */
export async function* countedPages(
  pages: AsyncIterable<RowDocument[]>,
  call: Call,
  budget: PageBudget,
): AsyncGenerator<RowDocument[]> {
  const key = callerKey(call.caller);
  const whileStreaming = { signal: new AbortController().signal, waitMs: laterWaitMs };
  let wait: { signal: AbortSignal; waitMs?: number } = { signal: call.signal };
  for await (const page of pages) {
    const ends: (() => void)[] = [];
    await budget.take(key, byteLengthOf(page), {
      ...wait,
      onEncoded: (done) => done(),
      onEnd: (done) => void ends.push(done),
      endResponse: () => call.endResponse(),
    });
    wait = whileStreaming;
    try {
      yield page;
    } finally {
      for (const end of ends) end();
    }
  }
}

function byteLengthOf(page: readonly RowDocument[]): number {
  let bytes = 0;
  for (const row of page) {
    for (const value of Object.values(row)) bytes += typeof value === 'string' ? value.length : 8;
  }
  return bytes;
}
