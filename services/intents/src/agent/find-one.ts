import { notFound } from '@ticketing/errors/domain-error.ts';
import type { Context } from '../context.ts';
import type { AiAgentState } from './rules/agent.ts';

/** Reads an AI agent. Errors: ai_agent_not_found. */
export async function findAiAgent({ agents }: Pick<Context, 'agents'>, id: number): Promise<AiAgentState> {
  const agent = await agents.find(id);
  if (!agent) throw notFound('AI agent');
  return agent;
}
