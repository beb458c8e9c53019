import type { Client } from '@connectrpc/connect';
import type { TemplateService } from '@ticketing/contracts/ticketing/templates/v1/template_service_pb.ts';
import type { TagService } from '@ticketing/contracts/ticketing/tickets/v1/tag_service_pb.ts';
import type { TicketService } from '@ticketing/contracts/ticketing/tickets/v1/ticket_service_pb.ts';
import { invalidInput, type Violation } from '@ticketing/errors/domain-error.ts';
import type { OutboundGuard } from '@ticketing/outbound/outbound-guard.ts';
import type { Call } from '@ticketing/service-kit/call/call.ts';
import { ifFound } from '@ticketing/service-kit/client/if-found.ts';
import type { OnBehalfOf } from '@ticketing/service-kit/client/service-client.ts';
import type { AiAgentInput, AiAgentState } from './rules/agent.ts';
import { toTicketChange } from './rules/ticket-fields.ts';

/** The services that know what AI agents name, and the rules of outgoing requests. */
export interface CalledServices {
  tags(call: OnBehalfOf): Client<typeof TagService>;
  tickets(call: OnBehalfOf): Client<typeof TicketService>;
  templates(call: OnBehalfOf): Client<typeof TemplateService>;
  outbound: Pick<OutboundGuard, 'checkUrl'>;
}

/**
 * Refuses tags, templates, ticket fields and URLs of a request that other services or the operator do not allow.
 * `agent` is the AI agent after the request; only the parts that the request sets are checked.
 *
 * Errors: address_refused, invalid_url; unknown_tag, unknown_template; those of a bulk for the fields of a ticket;
 * those of the tickets and templates services.
 * Source: docs/reference/api.md, AI agents.
 */
export type RequireReferences = (call: Call, input: AiAgentInput, agent: AiAgentState) => Promise<void>;

/** Makes the check of what requests name. */
export function openReferenceCheck(services: CalledServices): RequireReferences {
  return async (call, input, agent) => {
    const violations = await Promise.all([
      input.detection ? tagViolations(services, call, agent.detection.tagIds) : [],
      input.executor ? executorViolations(services, call, agent) : [],
    ]);
    if (violations.flat().length > 0) throw invalidInput(violations.flat());
  };
}

async function tagViolations(services: CalledServices, call: Call, tagIds: readonly number[]): Promise<Violation[]> {
  const client = services.tags(call);
  const tags = await Promise.all(tagIds.map((id) => ifFound(client.getTag({ id }))));
  return tags.flatMap((tag, index) => {
    const pointer = `#/detection/tagIds/${index}`;
    return tag ? [] : [{ pointer, code: 'unknown_tag', detail: 'There is no such tag.' }];
  });
}

async function executorViolations(
  services: CalledServices,
  call: Call,
  { executor }: AiAgentState,
): Promise<Violation[]> {
  switch (executor.type) {
    case 'http': {
      const problem = services.outbound.checkUrl(executor.url);
      if (!problem) return [];
      const code = problem.code === 'address_refused' ? problem.code : 'invalid_url';
      return [{ pointer: '#/executor/url', code, detail: problem.detail }];
    }
    case 'reply': {
      const { templateId: id } = executor;
      if (id === null || (await ifFound(services.templates(call).getTemplate({ id })))) return [];
      const detail = 'There is no such response template.';
      return [{ pointer: '#/executor/templateId', code: 'unknown_template', detail }];
    }
    case 'updateTicket': {
      // Called without the caller's identity, because only services may call this RPC.
      const { trace, signal } = call;
      const change = toTicketChange(executor.fields, 1);
      const { violations } = await services.tickets({ trace, signal }).checkTicketChange({ change });
      return violations.map(({ pointer, code, detail }) => {
        return { pointer: `#/executor/fields${pointer.slice(1)}`, code, detail };
      });
    }
    default:
      return [];
  }
}
