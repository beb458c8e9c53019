import { invalidInput } from '@ticketing/errors/domain-error.ts';
import type { Call } from '@ticketing/service-kit/call/call.ts';
import type { Context } from '../context.ts';

/** Requires that the AI agent exists, if a request names one. Errors: unknown_agent; dependency_unavailable. */
export async function requireAgent(context: Context, call: Call, id: number | undefined): Promise<void> {
  if (id === undefined) return;
  const { ids } = await context.agents(call).findAiAgents({ ids: [id] });
  if (ids.includes(id)) return;
  const detail = 'There is no such AI agent.';
  throw invalidInput([{ pointer: '#/aiAgentId', code: 'unknown_agent', detail }]);
}
