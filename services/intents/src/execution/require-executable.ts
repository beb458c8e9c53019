import { TicketStatus } from '@ticketing/contracts/ticketing/tickets/v1/enums_pb.ts';
import type { Ticket } from '@ticketing/contracts/ticketing/tickets/v1/ticket_pb.ts';
import { DomainError } from '@ticketing/errors/domain-error.ts';
import { type Caller, hasRight } from '@ticketing/service-kit/identity/caller.ts';
import { type AiAgentState, allowsClosed, type Executable } from '../agent/rules/agent.ts';

/** The kinds of callers that may not call a backend system, unless an AI agent names them. */
const outsiders: readonly string[] = ['vendor', 'vendorPartner', 'service'] satisfies Caller['kind'][];

/**
 * Refuses a caller who may not execute an AI agent, and one that is disabled. `caller` is null for the system.
 *
 * Errors: kind_not_allowed, missing_right; ai_agent_disabled. Source: docs/reference/api.md, AI agents.
 */
export function requireExecutable({ enabled, executor, executableBy }: Executable, caller: Caller | null): void {
  const { kinds, permission } = executableBy;
  if (caller) {
    const { kind } = caller;
    const isAllowed = kinds.length > 0 ? kinds.includes(kind) : executor.type !== 'http' || !outsiders.includes(kind);
    if (!isAllowed) {
      const detail = `Callers of the kind ${kind} may not execute this AI agent.`;
      throw new DomainError('permission_denied', 'kind_not_allowed', detail);
    }
    if (permission !== null && !hasRight(caller, permission)) {
      throw new DomainError('permission_denied', 'missing_right', `The right ${permission} is missing.`);
    }
  }
  if (!enabled) throw new DomainError('failed_precondition', 'ai_agent_disabled', 'The AI agent is disabled.');
}

/** Refuses a ticket for which an AI agent is not executed. Errors: ticket_closed, customer_needed. */
export function requireTicket(
  agent: AiAgentState,
  { status, customerId }: Pick<Ticket, 'status' | 'customerId'>,
): void {
  if (status === TicketStatus.CLOSED && !allowsClosed(agent)) {
    const detail = 'The ticket is closed, which this AI agent does not allow.';
    throw new DomainError('failed_precondition', 'ticket_closed', detail);
  }
  if (agent.customerNeeded && customerId === undefined) {
    const detail = 'The ticket has no customer, which this AI agent needs.';
    throw new DomainError('failed_precondition', 'customer_needed', detail);
  }
}
