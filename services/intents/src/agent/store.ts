import type { Channel } from '@ticketing/contracts/ticketing/tickets/v1/enums_pb.ts';
import { DomainError } from '@ticketing/errors/domain-error.ts';
import type { Runtime } from '@ticketing/runtime/runtime.ts';
import { openCollection } from '@ticketing/store/connection/open-collection.ts';
import { removePresent } from '@ticketing/store/document/remove-present.ts';
import { conflict, retryOnConflict } from '@ticketing/store/document/retry-on-conflict.ts';
import { isDuplicateKey, storeCall } from '@ticketing/store/document/store-error.ts';
import { type UniqueWrites, uniqueWrites } from '@ticketing/store/document/unique-writes.ts';
import { idSequence } from '@ticketing/store/ids/id-sequence.ts';
import { type SlugInserts, slugInserts } from '@ticketing/store/ids/slug-inserts.ts';
import type { Connection, mongo } from 'mongoose';
import {
  type AiAgentState,
  type DetectionState,
  executableByDefault,
  namedTagIds,
  namedTemplateId,
  type OptionState,
} from './rules/agent.ts';

/** An AI agent of a page, before it is read. */
export interface AiAgentEntry {
  id: number;
  bytes: number;
  openBytes: number;
}

/** A field of AI agents with ids of other objects. Ids of deleted objects are dropped from it. */
export type AgentReference = 'tagIds' | 'templateId';

/** The AI agents. Errors of every operation: store_unavailable. */
export interface AiAgentStore {
  nextId(): Promise<number>;
  /** Adds an AI agent; one with this id stays as it is. Errors: duplicate_ai_agent. */
  add(agent: AiAgentState): Promise<void>;
  /** Adds as `add` does, with a number at the end of a slug that another AI agent has. */
  addNumbered(agent: AiAgentState): Promise<void>;
  find(id: number): Promise<AiAgentState | undefined>;
  findBySlug(slug: string): Promise<AiAgentState | undefined>;
  /**
   * Stores what `decide` returns for the AI agent, and decides again if another change was stored meanwhile; undefined
   * if there is none.
   *
   * Errors: those of `decide`; duplicate_ai_agent; concurrent_change, if too many other changes come first.
   */
  commit(id: number, decide: (agent: AiAgentState) => AiAgentState): Promise<AiAgentState | undefined>;
  /** Returns whether it existed. */
  remove(id: number): Promise<boolean>;
  /** Returns a page sorted by id, and the total. */
  list(offset: number, limit: number): Promise<{ total: number; entries: AiAgentEntry[] }>;
  /** Returns the AI agents that exist, sorted by id. */
  findSome(ids: readonly number[]): Promise<AiAgentState[]>;
  /** Returns the ids of the AI agents that exist. */
  existing(ids: readonly number[]): Promise<number[]>;
  /** Returns the ids of the AI agents that name any of `ids`. */
  naming(reference: AgentReference, ids: readonly number[]): Promise<number[]>;
  /** Returns the AI agents that may propose something, sorted by id. */
  enabled(): Promise<AiAgentState[]>;
  /** Returns the AI agents that call a backend system, and so may have secrets. */
  withBackend(): Promise<AiAgentState[]>;
}

const tooOften = 'The AI agent was changed by others at the same time.';

/** Opens the AI agents on a connection. */
export function aiAgentStore(connection: Connection, runtime: Pick<Runtime, 'random'>): AiAgentStore {
  const agents = agentCollection(connection);
  const write = uniqueWrites(runtime);
  const inserts = slugInserts<AiAgentDocument>(agents as never, () => ({}), write);
  const ids = idSequence(connection, 'aiAgent');
  return { nextId: () => ids.next(), ...openWrites({ agents, inserts, write, runtime }), ...openReads(agents) };
}

type Agents = mongo.Collection<AiAgentDocument>;

interface WriteParts {
  agents: Agents;
  inserts: SlugInserts<AiAgentDocument>;
  write: UniqueWrites;
  runtime: Pick<Runtime, 'random'>;
}

function openWrites({ agents, inserts, write, runtime }: WriteParts) {
  /** Returns false if another request has changed it first. */
  async function replace(before: AiAgentState, after: AiAgentState): Promise<boolean> {
    const { _id, ...fields } = toDocument(after);
    const update = () => agents.updateOne({ _id, version: before.version }, { $set: fields });
    try {
      const { matchedCount } = await (before.slug === after.slug ? update() : write(update));
      return matchedCount === 1;
    } catch (error) {
      throw isDuplicateKey(error) ? duplicateSlug(error) : error;
    }
  }

  return {
    add: (agent: AiAgentState) =>
      storeCall(async () => {
        if (!(await inserts.insert(toDocument(agent)))) throw duplicateSlug();
      }),
    addNumbered: (agent: AiAgentState) => storeCall(() => inserts.insertNumbered(toDocument(agent))),
    commit: (id: number, decide: (agent: AiAgentState) => AiAgentState) =>
      retryOnConflict(runtime, tooOften, async () => {
        const document = await storeCall(() => agents.findOne({ _id: id }));
        if (!document) return undefined;
        const before = fromDocument(document);
        const after = { ...decide(before), version: before.version + 1 };
        return (await storeCall(() => replace(before, after))) ? after : conflict;
      }),
    remove: (id: number) =>
      storeCall(() =>
        removePresent(
          async () => (await agents.deleteOne({ _id: id })).deletedCount === 1,
          async () => (await agents.countDocuments({ _id: id }, { limit: 1 })) > 0,
        ),
      ),
  };
}

function openReads(agents: Agents) {
  const readIds = async (filter: object) =>
    (
      await agents
        .find(filter, { projection: { _id: 1 } })
        .sort({ _id: 1 })
        .toArray()
    ).map(({ _id }) => _id);
  const readStates = async (filter: object) => (await agents.find(filter).sort({ _id: 1 }).toArray()).map(fromDocument);
  return {
    find: (id: number) => storeCall(async () => (await readStates({ _id: id }))[0]),
    findBySlug: (slug: string) => storeCall(async () => (await readStates({ slug }))[0]),
    list: (offset: number, limit: number) =>
      storeCall(async () => {
        const [total, page] = await Promise.all([
          agents.countDocuments(),
          agents
            .find({}, { projection: { bytes: 1, openBytes: 1 } })
            .sort({ _id: 1 })
            .skip(offset)
            .limit(limit)
            .toArray(),
        ]);
        return { total, entries: page.map(({ _id, bytes, openBytes }) => ({ id: _id, bytes, openBytes })) };
      }),
    findSome: (ids: readonly number[]) => storeCall(() => readStates({ _id: { $in: [...ids] } })),
    existing: (ids: readonly number[]) => storeCall(() => readIds({ _id: { $in: [...ids] } })),
    naming: async (reference: AgentReference, ids: readonly number[]) =>
      ids.length === 0 ? [] : storeCall(() => readIds({ [reference]: { $in: [...ids] } })),
    enabled: () => storeCall(() => readStates({ enabled: true })),
    withBackend: () => storeCall(() => readStates({ callsBackend: true })),
  };
}

function duplicateSlug(cause?: unknown): DomainError {
  return new DomainError('already_exists', 'duplicate_ai_agent', 'Another AI agent has this slug.', { cause });
}

/** The document of an AI agent. */
interface AiAgentDocument
  extends Omit<
    AiAgentState,
    'id' | 'detection' | 'options' | 'parameters' | 'executor' | 'executableBy' | 'allowClosed' | 'channels'
  > {
  _id: number;
  channels: Channel[];
  detection: DetectionState;
  options: OptionState[];
  /** The schema as JSON text, because its parameters can have any names. */
  parameters: string | null;
  /** JSON, with `executableBy` and `allowClosed`: a process of an earlier version refuses further fields beside it. */
  executor: string;
  /** The ids that it names, and whether it may have secrets. Queries use them. */
  tagIds: number[];
  templateId: number | null;
  callsBackend: boolean;
  /** The approximate size in responses, and the size of its objects of open shape, in bytes. */
  bytes: number;
  openBytes: number;
}

const agentCollection = (connection: Connection) => openCollection<AiAgentDocument>(connection, 'aiAgents');

/** Builds the missing indexes of the AI agents. */
export async function buildAgentIndexes(connection: Connection): Promise<void> {
  const agents = agentCollection(connection);
  await agents.createIndex({ slug: 1 }, { unique: true });
  await agents.createIndex({ tagIds: 1 });
  await agents.createIndex({ templateId: 1 });
}

/** Converts an AI agent to its document. */
function toDocument(agent: AiAgentState): AiAgentDocument {
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

/** Converts a document to the AI agent. */
function fromDocument(document: AiAgentDocument): AiAgentState {
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
