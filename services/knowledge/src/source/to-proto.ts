import {
  type KnowledgeSource,
  KnowledgeStatus,
  type KnowledgeType,
} from '@ticketing/contracts/ticketing/knowledge/v1/knowledge_source_pb.ts';
import { toTimestamp } from '@ticketing/rest/codec/date-time.ts';
import type { ResponseSubject } from '@ticketing/store/idempotency/idempotency-store.ts';
import type { Blocked } from './rules/access.ts';
import type { StoredSource } from './schema.ts';

/** A source, and the sources whose teams keep the caller from reading it. */
export interface ShownSource {
  source: StoredSource;
  blocked: readonly Blocked[];
}

/** Refers to a source as the subject of a stored response, which may not be sent again after the source is deleted. */
export const sourceSubject = (id: number): ResponseSubject => ({ kind: 'Knowledge source', id });

/** Converts a source; omits its text and readers if the caller may not read it. */
export function sourceToProto({ source, blocked }: ShownSource): KnowledgeSource {
  const isBlocked = blocked.length > 0;
  return {
    $typeName: 'ticketing.knowledge.v1.KnowledgeSource',
    id: source.id,
    type: source.type,
    status: source.status,
    source: source.source,
    name: source.name,
    tags: [...source.tags],
    teams: [...source.teams],
    readByAgents: isBlocked ? [] : source.readers.map(readerToProto),
    title: source.title,
    text: isBlocked ? '' : source.text,
    confidential: source.confidential,
    excluded: source.excluded,
    access: {
      $typeName: 'ticketing.knowledge.v1.KnowledgeAccess',
      blocked: isBlocked,
      blockedItems: blocked.map(({ id, kind }) => ({ $typeName: 'ticketing.knowledge.v1.BlockedItem', id, kind })),
    },
    ...(source.parent === null ? {} : { parent: source.parent }),
    createdAt: toTimestamp(source.createdAt),
    modifiedAt: toTimestamp(source.modifiedAt),
  };
}

function readerToProto({ id, name, readAt }: StoredSource['readers'][number]): KnowledgeSource['readByAgents'][number] {
  return { $typeName: 'ticketing.knowledge.v1.KnowledgeReader', id, name, readAt: toTimestamp(readAt) };
}

/** Converts a deleted source, of which only the id, the type and the times remain. */
export function deletedSourceToProto(
  id: number,
  type: KnowledgeType,
  times: { createdAt: number; modifiedAt: number },
): KnowledgeSource {
  const nothing = { source: '', name: '', title: '', text: '' };
  const source = { ...nothing, tags: [], teams: [], confidential: false, excluded: false, readers: [], parent: null };
  const state = { id, type, status: KnowledgeStatus.DELETED, version: 0, revision: 0, bytes: 0, ...times, ...source };
  return sourceToProto({ source: state, blocked: [] });
}
