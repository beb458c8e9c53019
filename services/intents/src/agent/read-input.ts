import type {
  CreateAiAgentRequest,
  UpdateAiAgentRequest,
} from '@ticketing/contracts/ticketing/intents/v1/ai_agent_service_pb.ts';
import type { AiAgentInput } from './rules/agent.ts';

/** Reads the fields that a request sets: those with a value in a creation, those in the mask in a change. */
export function readAiAgentInput(request: CreateAiAgentRequest | UpdateAiAgentRequest): AiAgentInput {
  const { detection, executableBy } = request;
  const all: Record<string, AiAgentInput | undefined> = {
    name: present({ name: request.name }),
    slug: present({ slug: request.slug }),
    description: { description: request.description ?? null },
    enabled: present({ enabled: request.enabled }),
    channels: { channels: request.channels },
    detection: detection && {
      detection: {
        keywords: detection.keywords,
        tagIds: detection.tagIds,
        minConfidence: detection.minConfidence ?? null,
      },
    },
    customer_needed: present({ customerNeeded: request.customerNeeded }),
    parameters: { parameters: request.parameters ?? null },
    options: {
      options: request.options.map(({ type, name, icon = null, recommended, order }) => {
        return { type, name, icon, recommended, order };
      }),
    },
    executor: present({ executor: request.executor }),
    auto_execute_after_minutes: { autoExecuteAfterMinutes: request.autoExecuteAfterMinutes ?? null },
    executable_by: executableBy && {
      executableBy: { kinds: executableBy.kinds, permission: executableBy.permission ?? null },
    },
    allow_closed: { allowClosed: request.allowClosed ?? null },
  };
  const isChange = request.$typeName === 'ticketing.intents.v1.UpdateAiAgentRequest';
  const paths = isChange ? (request.updateMask?.paths ?? []) : Object.keys(all);
  return Object.assign({}, ...paths.map((path) => all[path]));
}

/** Returns `field` if its only value is set, otherwise undefined. */
function present<Name extends string, Value>(field: Record<Name, Value | undefined>): Record<Name, Value> | undefined {
  const [value] = Object.values(field);
  return value === undefined ? undefined : (field as Record<Name, Value>);
}
