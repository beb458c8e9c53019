import type { JsonObject } from '@bufbuild/protobuf';
import type { AiExecutor } from '@ticketing/contracts/ticketing/intents/v1/ai_agent_service_pb.ts';
import type { Channel } from '@ticketing/contracts/ticketing/tickets/v1/enums_pb.ts';
import { invalidInput, type Violation } from '@ticketing/errors/domain-error.ts';
import type { SecretBox } from '@ticketing/text/sealed-text.ts';
import { toSlug } from '@ticketing/text/slug.ts';
import { decideExecutor, type ExecutorState, noExecutor } from './executor.ts';
import { schemaViolations } from './parameter-schema.ts';
import { tagIdsIn, withoutTagsIn } from './ticket-fields.ts';

/** A stored AI agent. */
export interface AiAgentState {
  id: number;
  /** The number of changes so far. */
  version: number;
  slug: string;
  name: string;
  description: string | null;
  enabled: boolean;
  /** Empty for all. */
  channels: readonly Channel[];
  detection: DetectionState;
  customerNeeded: boolean;
  parameters: JsonObject | null;
  options: readonly OptionState[];
  executor: ExecutorState;
  autoExecuteAfterMinutes: number | null;
  executableBy: ExecutableByState;
  /** Null means the default of the executor's type. */
  allowClosed: boolean | null;
  /** Unix seconds. */
  createdAt: number;
  /** Unix seconds. */
  modifiedAt: number;
}

/** The tickets for which an AI agent proposes something: they contain a keyword or have a tag. */
export interface DetectionState {
  keywords: readonly string[];
  tagIds: readonly number[];
  minConfidence: number | null;
}

/** An option that an agent can choose from. */
export interface OptionState {
  type: string;
  name: string;
  icon: string | null;
  recommended: boolean;
  order: number;
}

/** The callers that may execute the intents of an AI agent. */
export interface ExecutableByState {
  /** Kinds of profiles; empty means the default of the executor's type. */
  kinds: readonly string[];
  /** The right that is needed; null for none. */
  permission: string | null;
}

/** An AI agent that anybody may execute, as far as its executor allows. */
export const executableByDefault: ExecutableByState = { kinds: [], permission: null };

/** The part of an AI agent that decides about an execution. */
export interface Executable {
  enabled: boolean;
  executor: Pick<ExecutorState, 'type'>;
  executableBy: ExecutableByState;
  allowClosed: boolean | null;
}

/** Whether an AI agent is executed for closed tickets: by default unless it calls a backend system. */
export function allowsClosed({ executor, allowClosed }: Pick<Executable, 'executor' | 'allowClosed'>): boolean {
  return allowClosed ?? executor.type !== 'http';
}

/** The fields of an AI agent that a request sets. */
export interface AiAgentInput
  extends Partial<Omit<AiAgentState, 'id' | 'version' | 'executor' | 'createdAt' | 'modifiedAt'>> {
  executor?: AiExecutor;
}

/** The fields that have no default. */
type NamedInput = AiAgentInput & { name: string };

const initial = {
  version: 0,
  description: null,
  enabled: true,
  channels: [],
  detection: { keywords: [], tagIds: [], minConfidence: null },
  customerNeeded: false,
  parameters: null,
  options: [],
  executor: noExecutor,
  autoExecuteAfterMinutes: null,
  executableBy: executableByDefault,
  allowClosed: null,
};

/**
 * Builds the AI agent of a creation. The slug is derived from the name if the request has none.
 *
 * Units: `now` in Unix seconds. Errors: those of `changeAiAgent`. Source: docs/reference/api.md, AI agents.
 */
export function newAiAgent(id: number, input: NamedInput, box: SecretBox, now: number): AiAgentState {
  const { name } = input;
  const slug = toSlug(name, 'agent');
  return changeAiAgent({ ...initial, id, slug, name, createdAt: now, modifiedAt: now }, input, box, now);
}

/**
 * Applies the fields of a request to an AI agent.
 *
 * Units: `now` in Unix seconds. Errors: too_short for a blank text, conflicting_options, duplicate_item,
 * invalid_schema; those of `decideExecutor`.
 */
export function changeAiAgent(before: AiAgentState, input: AiAgentInput, box: SecretBox, now: number): AiAgentState {
  const { executor, ...fields } = input;
  const name = (fields.name ?? before.name).trim();
  const violations = [
    ...(name === '' ? [blank('#/name')] : []),
    ...(fields.detection?.keywords ?? []).flatMap((keyword, index) =>
      keyword.trim() === '' ? [blank(`#/detection/keywords/${index}`)] : [],
    ),
    ...optionViolations(fields.options ?? []),
    ...(fields.parameters ? schemaViolations(fields.parameters, '#/parameters') : []),
  ];
  const decided = executor ? decideExecutor(executor, before, box) : { state: before.executor, violations: [] };
  violations.push(...decided.violations);
  if (violations.length > 0) throw invalidInput(violations);
  return { ...before, ...fields, name, executor: decided.state, version: before.version + 1, modifiedAt: now };
}

function blank(pointer: string): Violation {
  return { pointer, code: 'too_short', detail: 'must have a character that is not a space' };
}

function optionViolations(options: readonly OptionState[]): Violation[] {
  const violations: Violation[] = [];
  const types = new Set<string>();
  let recommended = 0;
  for (const [index, option] of options.entries()) {
    const at = `#/options/${index}`;
    if (option.type.trim() === '') violations.push(blank(`${at}/type`));
    if (option.name.trim() === '') violations.push(blank(`${at}/name`));
    if (types.has(option.type)) {
      violations.push({ pointer: `${at}/type`, code: 'duplicate_item', detail: 'is the type of another option' });
    }
    types.add(option.type);
    if (option.recommended) recommended += 1;
    if (option.recommended && recommended > 1) {
      const detail = 'another option is recommended already';
      violations.push({ pointer: `${at}/recommended`, code: 'conflicting_options', detail });
    }
  }
  return violations;
}

/** Returns the tags that an AI agent names. */
export function namedTagIds({ detection, executor }: AiAgentState): number[] {
  const inFields = executor.type === 'updateTicket' ? tagIdsIn(executor.fields) : [];
  return [...new Set([...detection.tagIds, ...inFields])];
}

/** Returns an AI agent that does not name some tags. */
export function withoutTags(agent: AiAgentState, tagIds: readonly number[]): AiAgentState {
  const { detection, executor } = agent;
  return {
    ...agent,
    detection: { ...detection, tagIds: detection.tagIds.filter((id) => !tagIds.includes(id)) },
    executor:
      executor.type === 'updateTicket' ? { ...executor, fields: withoutTagsIn(executor.fields, tagIds) } : executor,
  };
}

/** Returns the response template that an AI agent names, or null. */
export function namedTemplateId({ executor }: AiAgentState): number | null {
  return executor.type === 'reply' ? executor.templateId : null;
}

/** Returns an AI agent that does not name some response templates. */
export function withoutTemplates(agent: AiAgentState, templateIds: readonly number[]): AiAgentState {
  const templateId = namedTemplateId(agent);
  if (templateId === null || !templateIds.includes(templateId)) return agent;
  return { ...agent, executor: { type: 'reply', templateId: null } };
}
