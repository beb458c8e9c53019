import type { Logger } from '@ticketing/runtime/logger.ts';
import { runWithinLimits } from '@ticketing/sandbox/repeat-crashed.ts';
import { openSandbox, type SandboxLimits } from '@ticketing/sandbox/sandbox.ts';
import { type CleanText, cleanText, escapedText } from './rules/clean-text.ts';
import type { TextFunctions } from './text.worker.ts';

/**
 * Cleans the texts of sources: short texts at once, all others in a separate process, because no text may delay other
 * requests. `caller` is the owner of the work: each caller has a share of the queue.
 *
 * Errors of every operation: sandbox_busy, if too many long texts wait; sandbox_crashed, if two processes ended in the
 * work, but none because of a limit.
 */
export interface TextWork {
  /** Cleans a text. If it exceeds the limits of the worker, it is kept with all tags and links escaped. */
  clean(text: string, caller: string): Promise<CleanText>;
  close(): Promise<void>;
}

/** Cleaning a text with at most this length and `fewTags` tags takes at most about 10 ms. */
const shortLength = 16_384;
const fewTags = 100;

const limits: SandboxLimits = {
  timeoutMs: 10_000,
  maxHeapMb: 256,
  maxOutputBytes: 16 * 1024 * 1024,
  maxWorkers: 2,
  longRunBytes: 256 * 1024,
  maxQueued: 64,
  maxQueuedBytes: 32 * 1024 * 1024,
  maxQueuedPerCaller: 32,
  maxQueuedBytesPerCaller: 16 * 1024 * 1024,
  idleMs: 30_000,
};

/** Opens the work on texts. Tests replace the limits. */
export function openTextWork(log: Logger, changedLimits: Partial<SandboxLimits> = {}): TextWork {
  const sandbox = openSandbox<TextFunctions>(new URL('./text.worker.ts', import.meta.url), {
    ...limits,
    ...changedLimits,
  });
  const warning = 'a text was not cleaned but escaped, because its worker exceeded a limit';
  return {
    async clean(text, caller) {
      if (isShort(text)) return cleanText(text);
      return runWithinLimits(
        () => sandbox.run(caller, 'cleanText', text),
        log,
        warning,
        () => escapedText(text),
      );
    },
    close: () => sandbox.close(),
  };
}

function isShort(text: string): boolean {
  return text.length <= shortLength && text.split('<', fewTags + 2).length <= fewTags + 1;
}
