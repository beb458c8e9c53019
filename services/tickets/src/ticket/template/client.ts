import { type Client, Code, ConnectError } from '@connectrpc/connect';
import { ProblemSchema } from '@ticketing/contracts/ticketing/api/v1/problem_pb.ts';
import type {
  RenderingService,
  RenderTemplateResponse,
} from '@ticketing/contracts/ticketing/templates/v1/rendering_service_pb.ts';
import type { MessageContent } from '@ticketing/contracts/ticketing/tickets/v1/conversation_pb.ts';
import { DomainError, invalidInput } from '@ticketing/errors/domain-error.ts';
import type { Call } from '@ticketing/service-kit/call/call.ts';
import type { OnBehalfOf } from '@ticketing/service-kit/client/service-client.ts';
import { LRUCache } from 'lru-cache';

/** The templates service, as this service uses it. */
export interface Templates {
  /**
   * Renders a response template with values, which are JSON in UTF-8.
   *
   * Errors: unknown_template, template_too_slow, template_too_much_memory, template_output_too_large, template_failed, at
   * `#/templateId`; templates_unavailable.
   */
  render(
    call: Pick<Call, 'trace' | 'signal'>,
    request: { templateId: number; variables: Uint8Array; withWrapper: boolean },
  ): Promise<RenderTemplateResponse>;
  /**
   * Renders the first of some e-mail templates that exists around a message; undefined if none does.
   *
   * Errors: as of `render`, without unknown_template, at `#/withEmailTemplate`.
   */
  wrap(
    call: Pick<Call, 'trace' | 'signal'>,
    request: { content: MessageContent; emailTemplateIds: number[]; variables: Uint8Array },
  ): Promise<string | undefined>;
  /**
   * Reads the text of the first of some e-mail templates that exists; undefined if none does. While the templates service
   * is unavailable, it is the text that this process has read last.
   */
  wrapper(call: Pick<Call, 'trace' | 'signal' | 'log'>, ids: readonly number[]): Promise<string | undefined>;
}

/** How long a message waits for its text: templates of others may be rendered first. */
export const renderTimeoutMs = 10_000;
/** How long a read of a ticket waits for a text that it can do without. */
const wrapperTimeoutMs = 500;
/** For how long it is not asked for again after a failure, so that not every read waits. */
const pauseMs = 1_000;
/** A rendered text has 1 MiB at most, which escaping can make longer. */
export const maxRenderedBytes = 16 * 1024 * 1024;
const maxKeptBytes = 16 * 1024 * 1024;

/** Opens the templates service. `now` is a clock that never goes back. Units: ms. */
export function openTemplates(
  client: (call: OnBehalfOf) => Pick<Client<typeof RenderingService>, 'renderTemplate' | 'wrapMessage' | 'findWrapper'>,
  now: () => number = () => performance.now(),
): Templates {
  const lastTexts = new LRUCache<string, { text: string | undefined }>({
    maxSize: maxKeptBytes,
    sizeCalculation: ({ text = '' }) => 1_000 + 2 * text.length,
  });
  let pausedUntil = Number.NEGATIVE_INFINITY;
  return {
    async render({ trace, signal }, request) {
      try {
        return await client({ trace, signal }).renderTemplate(request);
      } catch (error) {
        signal.throwIfAborted();
        throw renderError(error, '#/templateId');
      }
    },
    async wrap({ trace, signal }, request) {
      try {
        return (await client({ trace, signal }).wrapMessage(request)).message;
      } catch (error) {
        signal.throwIfAborted();
        throw renderError(error, '#/withEmailTemplate');
      }
    },
    async wrapper({ trace, signal, log }, ids) {
      const key = ids.join();
      if (now() < pausedUntil) return lastTexts.get(key)?.text;
      try {
        const request = { emailTemplateIds: [...ids] };
        const { template: text } = await client({ trace, signal }).findWrapper(request, {
          timeoutMs: wrapperTimeoutMs,
        });
        lastTexts.set(key, { text });
        return text;
      } catch (error) {
        signal.throwIfAborted();
        pausedUntil = now() + pauseMs;
        log.warn({ err: error }, 'an e-mail template cannot be read; the text that was read last is shown');
        return lastTexts.get(key)?.text;
      }
    },
  };
}

const refusals = new Map([
  ['unknown_template', 'There is no such template.'],
  ['template_too_slow', 'The template takes too long with these values.'],
  ['template_too_much_memory', 'The template needs too much memory with these values.'],
  ['template_output_too_large', 'The template becomes too long with these values.'],
  ['template_failed', 'The template cannot be rendered with these values.'],
]);

/** The error of a request whose template cannot be rendered. */
function renderError(error: unknown, pointer: string): unknown {
  if (!(error instanceof ConnectError)) return error;
  const [problem] = error.findDetails(ProblemSchema);
  if (problem?.reason === 'body_too_large') {
    const detail = 'The texts of the ticket are too large for a template.';
    return invalidInput([{ pointer, code: 'template_failed', detail }]);
  }
  if (error.code === Code.InvalidArgument) {
    const reason = problem?.errors.map(({ code }) => code).find((code) => refusals.has(code)) ?? 'template_failed';
    return invalidInput([{ pointer, code: reason, detail: refusals.get(reason) ?? '' }]);
  }
  if (unavailableCodes.includes(error.code)) {
    const detail = 'The template cannot be rendered at the moment, because the templates service is unavailable.';
    return new DomainError('unavailable', 'templates_unavailable', detail, { retryAfterSeconds: 2, cause: error });
  }
  return new DomainError('internal', 'internal', 'Internal error', { cause: error });
}

/** The codes of calls to which the templates service has not responded. */
export const unavailableCodes = [Code.Unavailable, Code.DeadlineExceeded, Code.ResourceExhausted];
