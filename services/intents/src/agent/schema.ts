import type { Channel } from '@ticketing/contracts/ticketing/tickets/v1/enums_pb.ts';
import { type Connection, type Model, Schema } from 'mongoose';
import type { AiAgentState, DetectionState, OptionState } from './rules/agent.ts';
import { executableByDefault } from './rules/executable-by.ts';
import { namedTagIds, namedTemplateId } from './rules/references.ts';

/** The document of an AI agent. */
export interface AiAgentDocument
  extends Omit<
    AiAgentState,
    'id' | 'detection' | 'options' | 'parameters' | 'executor' | 'executableBy' | 'allowClosed' | 'channels'
  > {
  _id: number;
  channels: Channel[];
  detection: DetectionState;
  options: OptionState[];
  /** As JSON text, because their names can be any. */
  parameters: string | null;
  /** With `executableBy` and `allowClosed`: a process of an earlier version refuses further fields beside it. */
  executor: string;
  /** For queries: the ids that it names, and whether it may have secrets. */
  tagIds: number[];
  templateId: number | null;
  callsBackend: boolean;
  /** The approximate size in responses, and the size of its objects of open shape, in bytes. */
  bytes: number;
  openBytes: number;
}

const schema = new Schema(
  {
    _id: Number,
    version: Number,
    slug: String,
    name: String,
    description: String,
    enabled: Boolean,
    channels: [Number],
    detection: Schema.Types.Mixed,
    customerNeeded: Boolean,
    parameters: String,
    options: [Schema.Types.Mixed],
    executor: String,
    autoExecuteAfterMinutes: Number,
    createdAt: Number,
    modifiedAt: Number,
    tagIds: [Number],
    templateId: Number,
    callsBackend: Boolean,
    bytes: Number,
    openBytes: Number,
  },
  { versionKey: false, strict: 'throw', minimize: false, collection: 'aiAgents' },
);
schema.index({ slug: 1 }, { unique: true });
schema.index({ tagIds: 1 });
schema.index({ templateId: 1 });

/** The model of the AI agents on a connection. */
export function aiAgentModel(connection: Connection): Model<AiAgentDocument> {
  return connection.model<AiAgentDocument>('AiAgent', schema as unknown as Schema<AiAgentDocument>);
}

/** Converts an AI agent to its document. */
export function documentOf(agent: AiAgentState): AiAgentDocument {
  const { id, parameters, executor, executableBy, allowClosed, channels, options, ...fields } = agent;
  const texts = {
    parameters: parameters && JSON.stringify(parameters),
    executor: JSON.stringify({ ...executor, executableBy, allowClosed }),
  };
  const openBytes = Buffer.byteLength(texts.parameters ?? '') + Buffer.byteLength(texts.executor);
  return {
    ...fields,
    ...texts,
    _id: id,
    channels: [...channels],
    options: [...options],
    tagIds: namedTagIds(agent),
    templateId: namedTemplateId(agent),
    callsBackend: executor.type === 'http',
    bytes: openBytes + Buffer.byteLength(JSON.stringify([fields, options])),
    openBytes,
  };
}

/** A stored AI agent. */
export function stateOf(document: AiAgentDocument): AiAgentState {
  const { _id, parameters, executor, ...fields } = document;
  const {
    tagIds: _tagIds,
    templateId: _templateId,
    callsBackend: _calls,
    bytes: _,
    openBytes: _open,
    ...rest
  } = fields;
  const { executableBy = executableByDefault, allowClosed = null, ...executorState } = JSON.parse(executor);
  return {
    ...rest,
    id: _id,
    parameters: parameters === null ? null : JSON.parse(parameters),
    executor: executorState,
    executableBy,
    allowClosed,
  };
}
