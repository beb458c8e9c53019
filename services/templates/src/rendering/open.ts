import { DomainError, invalidInput, type Violation } from '@ticketing/errors/domain-error.ts';
import type { Logger } from '@ticketing/runtime/logger.ts';
import { repeatCrashed } from '@ticketing/sandbox/repeat-crashed.ts';
import { openSandbox, type SandboxLimits } from '@ticketing/sandbox/sandbox.ts';
import { SandboxError, type SandboxReason } from '@ticketing/sandbox/sandbox-error.ts';
import { maxRenderedBytes } from './rules/max-rendered-bytes.ts';
import type { TemplateProblem } from './rules/problem.ts';
import type { RenderedTexts, TemplateFunctions, TemplateTexts, TextKind } from './template.worker.ts';

/** A text as it is in a request. */
export interface TextInput {
  kind: TextKind;
  text: string;
  pointer: string;
}

/** The texts to render, and their values: a JSON object in UTF-8. Values of `more` replace those of the object. */
export interface RenderInput extends TemplateTexts {
  variables: Uint8Array;
  more?: object;
  /** Where problems of the texts are in the request. */
  pointer: string;
}

/**
 * Checks and renders templates in separate processes, because a template must not delay or harm other requests.
 * `caller` is the owner of the work: each caller has a share of the processes.
 *
 * Errors of every operation: sandbox_busy, if too many runs wait; sandbox_crashed, if two processes ended in the work,
 * but none because of a limit.
 */
export interface Rendering {
  /** Returns the problems of texts that are to be saved. A text that cannot be checked within the limits has one too. */
  findViolations(inputs: readonly TextInput[], caller: string): Promise<Violation[]>;
  /**
   * Renders a message into HTML that a client may show, and a subject into plain text of one line.
   *
   * Errors: invalid input at the pointer: the problems of the texts; `template_too_slow`, `template_too_much_memory`,
   * `template_output_too_large`; `template_failed`, if a value cannot be shown.
   */
  render(input: RenderInput, caller: string): Promise<RenderedTexts>;
  close(): Promise<void>;
}

/** The time limit of the work on a request, and the callback for work that is stopped. */
export interface RenderingOptions {
  timeoutMs: number;
  onStopped?(reason: SandboxReason): void;
}

const limits: Omit<SandboxLimits, 'timeoutMs'> = {
  maxHeapMb: 64,
  maxOutputBytes: maxRenderedBytes + 64 * 1024,
  // While one author's template uses up its time, another worker is left for the same author, and one for all others.
  maxWorkers: 3,
  warmWorkers: 3,
  longRunBytes: 256 * 1024,
  maxQueued: 256,
  maxQueuedBytes: 64 * 1024 * 1024,
  maxQueuedPerCaller: 64,
  maxQueuedBytesPerCaller: 16 * 1024 * 1024,
  idleMs: 600_000,
};

const codes = {
  time: 'template_too_slow',
  memory: 'template_too_much_memory',
  output: 'template_output_too_large',
  failed: 'template_failed',
} as const;

/** Opens the rendering of templates. */
export function openRendering(log: Logger, { timeoutMs, onStopped = () => undefined }: RenderingOptions): Rendering {
  const module = new URL('./template.worker.ts', import.meta.url);
  const sandbox = openSandbox<TemplateFunctions>(module, { ...limits, timeoutMs });

  const what: Record<keyof typeof codes, string> = {
    time: `takes longer than ${timeoutMs} ms`,
    memory: `needs more than ${limits.maxHeapMb} MB of memory`,
    output: `becomes longer than ${maxRenderedBytes} bytes`,
    failed: 'cannot be rendered with these values',
  };
  const stoppedError = (pointer: string, reason: keyof typeof codes): DomainError =>
    invalidInput([{ pointer, code: codes[reason], detail: `The template ${what[reason]}.` }]);

  const inSandbox = async <Result>(pointer: string, work: () => Promise<Result>): Promise<Result> => {
    try {
      return await repeatCrashed(work, log);
    } catch (error) {
      if (error instanceof DomainError && error.reason === 'sandbox_crashed') onStopped('crashed');
      if (!(error instanceof SandboxError) || error.reason === 'crashed') throw error;
      onStopped(error.reason);
      log.warn({ err: error, reason: error.reason }, 'a template was stopped');
      throw stoppedError(pointer, error.reason);
    }
  };

  async function violationsIn({ kind, text, pointer }: TextInput, caller: string): Promise<readonly Violation[]> {
    try {
      const problems = await inSandbox(pointer, () => sandbox.run(caller, 'findProblems', kind, text));
      return problems.map((problem) => toViolation(pointer, problem));
    } catch (error) {
      if (error instanceof DomainError && error.violations.length > 0) return error.violations;
      throw error;
    }
  }

  return {
    async findViolations(inputs, caller) {
      const found = await Promise.all(inputs.map((input) => violationsIn(input, caller)));
      return found.flat();
    },
    async render({ variables, more = {}, pointer, ...texts }, caller) {
      const rendered = await inSandbox(pointer, () => sandbox.run(caller, 'render', texts, variables, more));
      if ('message' in rendered) return rendered;
      if ('problems' in rendered) throw invalidInput(rendered.problems.map((one) => toViolation(pointer, one)));
      onStopped('output');
      throw stoppedError(pointer, 'output');
    },
    close: () => sandbox.close(),
  };
}

function toViolation(pointer: string, { code, detail, line, column }: TemplateProblem): Violation {
  return { pointer, code, detail: `Line ${line}, column ${column}: ${detail}` };
}
