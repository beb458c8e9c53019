import { create, type JsonObject } from '@bufbuild/protobuf';
import {
  type AiAgent,
  AiAgentSchema,
  type AiExecutor,
  AiExecutorSchema,
} from '@ticketing/contracts/ticketing/intents/v1/ai_agent_service_pb.ts';
import { toTimestamp } from '@ticketing/rest/codec/date-time.ts';
import type { AiAgentState } from './rules/agent.ts';
import { type ExecutorState, executorTypes } from './rules/executor.ts';

/** Converts an AI agent to protobuf, without its secrets. */
export function toProto(state: AiAgentState): AiAgent {
  const { version: _, channels, detection, options, executor, executableBy, createdAt, modifiedAt, ...fields } = state;
  return create(AiAgentSchema, {
    ...withoutNulls(fields),
    channels: [...channels],
    detection: { ...withoutNulls(detection), keywords: [...detection.keywords], tagIds: [...detection.tagIds] },
    options: options.map((option) => withoutNulls(option)),
    executor: executorToProto(executor),
    executableBy: { ...withoutNulls(executableBy), kinds: [...executableBy.kinds] },
    createdAt: toTimestamp(createdAt),
    modifiedAt: toTimestamp(modifiedAt),
  });
}

function executorToProto(executor: ExecutorState): AiExecutor {
  const type = executorTypes[executor.type];
  switch (executor.type) {
    case 'http': {
      const { url, method, timeoutMs, headers, responseMapping } = executor;
      const names: JsonObject = Object.fromEntries(Object.keys(headers).map((name) => [name, null]));
      const mapping: JsonObject = { ...responseMapping };
      return create(AiExecutorSchema, { type, url, method, timeoutMs, headers: names, responseMapping: mapping });
    }
    case 'reply':
      return create(AiExecutorSchema, withoutNulls({ type, templateId: executor.templateId }));
    case 'updateTicket':
      return create(AiExecutorSchema, { type, fields: executor.fields });
    default:
      return create(AiExecutorSchema, { type });
  }
}

/** Replaces null, which is stored for unset fields, by undefined, because protobuf has no null. */
function withoutNulls<Fields extends object>(fields: Fields): WithoutNulls<Fields> {
  return Object.fromEntries(
    Object.entries(fields).map(([name, value]) => [name, value ?? undefined]),
  ) as WithoutNulls<Fields>;
}

type WithoutNulls<Fields> = {
  [Name in keyof Fields]: Exclude<Fields[Name], null> | (null extends Fields[Name] ? undefined : never);
};
