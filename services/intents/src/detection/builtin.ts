import type { Logger } from '@ticketing/runtime/logger.ts';
import { repeatCrashed } from '@ticketing/sandbox/repeat-crashed.ts';
import { openSandbox, type SandboxLimits } from '@ticketing/sandbox/sandbox.ts';
import { SandboxError } from '@ticketing/sandbox/sandbox-error.ts';
import type { ModelBytes, ModelSource } from '../learning/current-model.ts';
import { spamThreshold } from '../learning/learn-tasks.ts';
import { maxBodyChars, maxSubjectChars, type TicketText } from '../learning/ticket-text.ts';
import type { Analysis } from './analyse-text.ts';
import type { AnalysisFunctions } from './analysis.worker.ts';
import { allKeywords, type Findings, withKeywords } from './keywords.ts';
import type { Detection } from './provider.ts';
import type { Detected } from './rules/detected.ts';

const limits: SandboxLimits = {
  // An analysis takes 20 ms; the rest is for a machine that is busy.
  timeoutMs: 10_000,
  maxHeapMb: 256,
  maxOutputBytes: 4 * 1024 * 1024,
  maxWorkers: 1,
  longRunBytes: 1024 * 1024,
  maxQueued: 64,
  maxQueuedBytes: 64 * 1024 * 1024,
  maxQueuedPerCaller: 64,
  maxQueuedBytesPerCaller: 64 * 1024 * 1024,
  idleMs: 60_000,
};

/** The provider without a network. It also makes the features of texts that are learned from. */
export interface BuiltinDetection extends Detection {
  /** Returns the features of a text, as bytes. Errors: those of `detect`, and SandboxError. */
  extractFeatures(text: TicketText): Promise<Uint8Array>;
}

/**
 * Opens the detection that needs no network. It works in a separate process, so that no request waits for it, with the
 * current model of `models`.
 *
 * Errors: sandbox_busy, sandbox_crashed; SandboxError, if a text exceeds a limit.
 * Source: docs/reference/api.md, Detection.
 */
export function openBuiltinDetection(log: Logger, models: ModelSource): BuiltinDetection {
  const sandbox = openSandbox<AnalysisFunctions>(new URL('./analysis.worker.ts', import.meta.url), limits);
  const withModel = modelLoader(models, (version, bytes) => sandbox.run('model', 'load', version, bytes), log);
  return {
    async detect(request, signal) {
      signal.throwIfAborted();
      const [text, keywords] = [cutText(request.text), allKeywords(request)];
      const analyse = (version: number) => sandbox.run('analysis', 'analyse', text, keywords, version);
      const analysis = await repeatCrashed(() => withModel(analyse), log);
      signal.throwIfAborted();
      return withKeywords(toFindings(analysis), request, new Set(analysis.keywords));
    },
    extractFeatures: (text) => repeatCrashed(() => sandbox.run('features', 'extractFeatures', cutText(text)), log),
    close: () => sandbox.close(),
  };
}

/** Returns the part of a text that is read. */
function cutText({ subject, body }: TicketText): TicketText {
  return { subject: subject?.slice(0, maxSubjectChars) ?? null, body: body?.slice(0, maxBodyChars) ?? null };
}

function toFindings({ language, sentiment, summary, spamProbability, tags }: Analysis): Findings {
  return {
    languageCode: language?.code ?? null,
    sentiment: sentiment?.label ?? null,
    summary,
    tags,
    spam: spamProbability === null ? null : toSpam(spamProbability),
  };
}

function toSpam(probability: number): NonNullable<Detected['spam']> {
  const isSpam = probability >= spamThreshold;
  return { isSpam, confidence: isSpam ? probability : 1 - probability };
}

const maxAttempts = 3;

/**
 * Makes a function that runs `work` with the newest model. `work` returns null if its process has an older model,
 * because the process was just started or the model just learned: then `load` passes it the model, and `work` is
 * repeated. Concurrent calls wait for the same `load`.
 */
export function modelLoader(
  models: ModelSource,
  load: (version: number, bytes: Uint8Array) => Promise<void>,
  log: Logger,
): <Result>(work: (version: number) => Promise<Result | null>) => Promise<Result> {
  let loading: Promise<void> | undefined;

  async function loadOrDiscard({ version, bytes }: ModelBytes): Promise<void> {
    try {
      await load(version, bytes);
    } catch (error) {
      if (!(error instanceof SandboxError) || error.reason !== 'failed') throw error;
      log.error({ err: error, version }, 'a model cannot be read, and is removed');
      await models.discard(version);
    }
  }

  return async (work) => {
    for (let attempt = 1; attempt <= maxAttempts; attempt += 1) {
      const model = await models.current();
      const result = await work(model?.version ?? 0);
      if (result !== null || !model) return requireResult(result);
      loading ??= loadOrDiscard(model).finally(() => {
        loading = undefined;
      });
      await loading;
    }
    // The process was replaced each time, or each model was damaged: the work is done without a model.
    return requireResult(await work(0));
  };
}

function requireResult<Result>(result: Result | null): Result {
  if (result === null) throw new Error('The work needs a model although none was asked for.');
  return result;
}
