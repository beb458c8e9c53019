import { Code, ConnectError } from '@connectrpc/connect';
import { continueTrace } from '@ticketing/runtime/trace.ts';
import type { OnBehalfOf } from '@ticketing/service-kit/client/service-client.ts';
import { isStoreOutage } from '@ticketing/store/document/transient-error.ts';
import { whileRenewing } from '@ticketing/store/leases/lease.ts';
import { maxAttempts, planRetry } from '../learning/attempts.ts';
import type { AttemptOutcome } from './metrics.ts';
import type { AnalysisContext } from './open.ts';
import type { ClaimedAnalysis, WithResult } from './queue-store.ts';

const renewMs = 5_000;

/**
 * Makes analyses that this process has claimed together: detects, stores the results, applies them, and ends the claims. A
 * process that dies between two of these steps leaves the rest to another one, which applies the same results. The outcomes
 * are passed to `onOutcome` one by one.
 *
 * Errors: store_unavailable.
 */
export async function runAnalyses(
  context: AnalysisContext,
  claimed: readonly ClaimedAnalysis[],
  stopping: AbortSignal,
  onOutcome: (outcome: AttemptOutcome) => void,
): Promise<void> {
  const run = new AnalysisRun(context, stopping, onOutcome);
  await whileRenewing(
    () => context.analyses.renew(run.waiting),
    renewMs,
    () => run.make(claimed),
  );
}

/** Some analyses that are made together. */
class AnalysisRun {
  /** The analyses that have not ended. */
  waiting: readonly ClaimedAnalysis[] = [];
  readonly #context: AnalysisContext;
  readonly #stopping: AbortSignal;
  readonly #onOutcome: (outcome: AttemptOutcome) => void;
  readonly #call: OnBehalfOf;

  constructor(context: AnalysisContext, stopping: AbortSignal, onOutcome: (outcome: AttemptOutcome) => void) {
    this.#context = context;
    this.#stopping = stopping;
    this.#onOutcome = onOutcome;
    this.#call = { trace: continueTrace(undefined), signal: stopping };
  }

  async make(claimed: readonly ClaimedAnalysis[]): Promise<void> {
    this.waiting = claimed;
    // Each earlier attempt has ended its process.
    for (const one of claimed.filter(({ attempts }) => attempts > maxAttempts))
      await this.#giveUp(one, 'process_ended');
    await this.#apply(
      this.waiting.flatMap((one) => (one.result === null ? [] : [{ claimed: one, result: one.result }])),
    );
    // A round leaves out tickets that do not fit into one response, and those to which it does not come in its time.
    while (this.waiting.length > 0) await this.#detect(this.waiting);
  }

  async #detect(claimed: readonly ClaimedAnalysis[]): Promise<void> {
    const { analyses, compute } = this.#context;
    const results: WithResult[] = [];
    const skipped: ClaimedAnalysis[] = [];
    try {
      await compute(this.#call, claimed, async (one, detecting) => {
        try {
          const result = await detecting;
          if (result) results.push({ claimed: one, result });
          else skipped.push(one);
        } catch (error) {
          await this.#fail(one, error);
        }
      });
    } catch (error) {
      if (isStoreOutage(error)) throw error;
      if (concernsAll(claimed, error)) for (const one of claimed) await this.#fail(one, error);
      else for (const one of claimed) await this.#detect([one]);
      return;
    }
    await analyses.finish(skipped);
    this.#end(skipped, 'skipped');
    const kept = await analyses.keepResults(results);
    const keptClaims = new Set(kept.map((one) => one.claimed));
    this.#end(
      results.flatMap((one) => (keptClaims.has(one.claimed) ? [] : [one.claimed])),
      'lost',
    );
    await this.#apply(kept);
  }

  async #apply(results: readonly WithResult[]): Promise<void> {
    if (results.length === 0) return;
    const failures = await this.#sendAll(results);
    const applied: ClaimedAnalysis[] = [];
    for (const [index, { claimed }] of results.entries()) {
      const error = failures[index];
      // The ticket was deleted meanwhile.
      if (error === undefined || isNotFound(error)) applied.push(claimed);
      else await this.#fail(claimed, error);
    }
    await this.#context.analyses.finish(applied);
    this.#end(applied, 'applied');
  }

  /** Applies results. Returns the error of each, undefined if it was applied. */
  async #sendAll(results: readonly WithResult[]): Promise<readonly unknown[]> {
    try {
      return await this.#context.apply(
        this.#call,
        results.map(({ claimed: { ticketId, runId }, result }) => ({ ticketId, runId, result })),
      );
    } catch (error) {
      if (isStoreOutage(error)) throw error;
      if (concernsAll(results, error)) return results.map(() => error);
      const failures: unknown[] = [];
      for (const one of results) failures.push(...(await this.#sendAll([one])));
      return failures;
    }
  }

  async #fail(claimed: ClaimedAnalysis, error: unknown): Promise<void> {
    if (isStoreOutage(error)) throw error;
    const { ticketId, attempts } = claimed;
    const { analyses, log } = this.#context;
    const { reason, counts, delayMs } = planRetry(error, attempts, this.#stopping.aborted);
    if (counts) log.warn({ err: error, ticketId, attempts }, 'an attempt to analyse a ticket has failed');
    else log.info({ ticketId, reason }, 'an analysis waits for another service');
    if (delayMs === null) return this.#giveUp(claimed, reason);
    await analyses.retry(claimed, { error: reason, delayMs, counts });
    this.#end([claimed], 'retried');
  }

  async #giveUp(claimed: ClaimedAnalysis, reason: string): Promise<void> {
    const { analyses, log } = this.#context;
    log.error({ ticketId: claimed.ticketId, reason }, 'a ticket is not analysed: all attempts have failed');
    await analyses.giveUp(claimed, reason);
    this.#end([claimed], 'givenUp');
  }

  #end(claimed: readonly ClaimedAnalysis[], outcome: AttemptOutcome): void {
    const ended = new Set(claimed);
    this.waiting = this.waiting.filter((one) => !ended.has(one));
    for (const _ of claimed) this.#onOutcome(outcome);
  }
}

/** Whether each of some analyses would fail with the same error; otherwise one of them may have caused it. */
function concernsAll(some: readonly unknown[], error: unknown): boolean {
  return some.length === 1 || (error instanceof ConnectError && error.code === Code.Unavailable);
}

function isNotFound(error: unknown): boolean {
  return error instanceof ConnectError && error.code === Code.NotFound;
}
