import { type AiExecutor, AiExecutorType } from '@ticketing/contracts/ticketing/intents/v1/ai_agent_service_pb.ts';
import type { SecretBox } from '@ticketing/text/sealed-text.ts';
import {
  type Decided,
  decideHttpExecutor,
  type ExecutorMember,
  type HttpExecutorState,
  missing,
} from './http-executor.ts';
import { type TicketFieldsState, ticketFieldsViolations } from './ticket-fields.ts';

/** How the intents of an AI agent are executed. */
export type ExecutorState =
  | HttpExecutorState
  | { type: 'reply'; templateId: number | null }
  | { type: 'updateTicket'; fields: TicketFieldsState }
  | { type: 'closeTicket' }
  | { type: 'none' };

/** The types of executors, with their numbers in the contract. */
export const executorTypes: Readonly<Record<ExecutorState['type'], AiExecutorType>> = {
  http: AiExecutorType.HTTP,
  reply: AiExecutorType.REPLY,
  closeTicket: AiExecutorType.CLOSE_TICKET,
  updateTicket: AiExecutorType.UPDATE_TICKET,
  none: AiExecutorType.NONE,
};

/** The executor of an AI agent without one. */
export const noExecutor: ExecutorState = { type: 'none' };

/** The AI agent whose executor is replaced. */
export interface ExecutorOwner {
  id: number;
  executor: ExecutorState;
}

const membersByType: Readonly<Record<ExecutorState['type'], readonly ExecutorMember[]>> = {
  http: ['url', 'method', 'headers', 'secret', 'timeoutMs', 'responseMapping'],
  reply: ['templateId'],
  closeTicket: [],
  updateTicket: ['fields'],
  none: [],
};

const allMembers = Object.values(membersByType).flat();

/**
 * Decides which executor an AI agent has after a request. Secrets that the request omits are kept from the previous
 * executor.
 *
 * Errors, as violations with pointers: invalid_executor for a member of another type, required for a missing one; those
 * of HTTP executors and of the fields of tickets.
 * Source: docs/reference/api.md, AI agents.
 */
export function decideExecutor(input: AiExecutor, owner: ExecutorOwner, box: SecretBox): Decided<ExecutorState> {
  const type = typeNames.find((name) => executorTypes[name] === input.type) ?? 'none';
  const foreign = allMembers.filter((member) => input[member] !== undefined && !membersByType[type].includes(member));
  const violations = foreign.map((member) => {
    const detail = 'belongs to executors of another type';
    return { pointer: `#/executor/${member}`, code: 'invalid_executor', detail };
  });
  const decided = decideByType(type, input, owner, box);
  return { state: decided.state, violations: [...violations, ...decided.violations] };
}

const typeNames = Object.keys(executorTypes) as ExecutorState['type'][];

function decideByType(
  type: ExecutorState['type'],
  input: AiExecutor,
  { id, executor: before }: ExecutorOwner,
  box: SecretBox,
): Decided<ExecutorState> {
  switch (type) {
    case 'http':
      return decideHttpExecutor(id, input, before.type === 'http' ? before : undefined, box);
    case 'reply': {
      const { templateId = null } = input;
      return { state: { type, templateId }, violations: templateId === null ? [missing('templateId')] : [] };
    }
    case 'updateTicket': {
      const { fields } = input;
      if (!fields) return { state: { type, fields: {} }, violations: [missing('fields')] };
      return { state: { type, fields }, violations: ticketFieldsViolations(fields, '#/executor/fields') };
    }
    default:
      return { state: { type }, violations: [] };
  }
}
