import type { Client } from '@connectrpc/connect';
import { AiAgentService } from '@ticketing/contracts/ticketing/intents/v1/ai_agent_service_pb.ts';
import type { Runtime } from '@ticketing/runtime/runtime.ts';
import type { OnBehalfOf } from '@ticketing/service-kit/client/service-client.ts';
import type { Kit } from '@ticketing/service-kit/lifecycle/kit.ts';
import { type IdSequence, idSequence } from '@ticketing/store/ids/id-sequence.ts';
import type { PageBudget } from '@ticketing/store/paging/page-budget.ts';
import { type SkillStore, skillStore } from './store.ts';

/** The dependencies of the handlers of skills. */
export interface SkillParts {
  skills: SkillStore;
  skillIds: IdSequence;
  pages: PageBudget;
  /** Opens a client for AI agents, for a call. */
  agents(call: OnBehalfOf): Client<typeof AiAgentService>;
  runtime: Runtime;
}

type KitOfSkills = Pick<Kit<unknown, unknown>, 'database' | 'pages' | 'openClient' | 'runtime'>;

/** Opens the skills on the database of a kit. */
export function openSkills({ database: { connection }, pages, openClient, runtime }: KitOfSkills): SkillParts {
  return {
    skills: skillStore(connection, runtime),
    skillIds: idSequence(connection, 'skill'),
    pages,
    agents: openClient('intents', AiAgentService, { timeoutMs: 5_000 }),
    runtime,
  };
}
