import { invalidInput, type Violation } from '@ticketing/errors/domain-error.ts';
import type { Call } from '@ticketing/service-kit/call/call.ts';
import { ifFound } from '@ticketing/service-kit/client/if-found.ts';
import type { Context } from '../context.ts';
import type { AiAgentInput, AiAgentState } from './rules/agent.ts';
import { ticketChangeOf } from './rules/ticket-fields.ts';

/**
 * Refuses tags, templates, ticket fields and URLs of a request that other services or the operator do not allow.
 * `agent` is the AI agent after the request; only the parts that the request sets are checked.
 *
 * Errors: address_refused, invalid_url; unknown_tag, unknown_template; those of a bulk for the fields of a ticket;
 * those of the tickets and templates services.
 * Source: docs/reference/api.md, AI agents.
 */
export async function requireReferences(
  context: Context,
  call: Call,
  input: AiAgentInput,
  agent: AiAgentState,
): Promise<void> {
  const found = await Promise.all([
    input.detection ? tagViolations(context, call, agent.detection.tagIds) : [],
    input.executor ? executorViolations(context, call, agent) : [],
  ]);
  const violations = found.flat();
  if (violations.length > 0) throw invalidInput(violations);
}

async function tagViolations(context: Context, call: Call, tagIds: readonly number[]): Promise<Violation[]> {
  const tags = context.tags(call);
  const found = await Promise.all(tagIds.map((id) => ifFound(tags.getTag({ id }))));
  return found.flatMap((tag, index) => {
    const pointer = `#/detection/tagIds/${index}`;
    return tag ? [] : [{ pointer, code: 'unknown_tag', detail: 'There is no such tag.' }];
  });
}

async function executorViolations(context: Context, call: Call, { executor }: AiAgentState): Promise<Violation[]> {
  switch (executor.type) {
    case 'http': {
      const problem = context.outbound.checkUrl(executor.url);
      if (!problem) return [];
      const code = problem.code === 'address_refused' ? problem.code : 'invalid_url';
      return [{ pointer: '#/executor/url', code, detail: problem.detail }];
    }
    case 'reply': {
      const { templateId: id } = executor;
      if (id === null || (await ifFound(context.templates(call).getTemplate({ id })))) return [];
      const detail = 'There is no such response template.';
      return [{ pointer: '#/executor/templateId', code: 'unknown_template', detail }];
    }
    case 'updateTicket': {
      // Called without the caller's identity, because only services may call this RPC.
      const { trace, signal } = call;
      const change = ticketChangeOf(executor.fields, 1);
      const { violations } = await context.tickets({ trace, signal }).checkTicketChange({ change });
      return violations.map(({ pointer, code, detail }) => {
        return { pointer: `#/executor/fields${pointer.slice(1)}`, code, detail };
      });
    }
    default:
      return [];
  }
}
