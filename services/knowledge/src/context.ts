import type { Client } from '@connectrpc/connect';
import { AiAgentService } from '@ticketing/contracts/ticketing/intents/v1/ai_agent_service_pb.ts';
import { TagService } from '@ticketing/contracts/ticketing/tickets/v1/tag_service_pb.ts';
import type { Logger } from '@ticketing/runtime/logger.ts';
import { secondsNow } from '@ticketing/runtime/runtime.ts';
import type { OnBehalfOf } from '@ticketing/service-kit/client/service-client.ts';
import type { Kit } from '@ticketing/service-kit/lifecycle/kit.ts';
import type { IdempotencyStore } from '@ticketing/store/idempotency/idempotency-store.ts';
import { type ErasedIds, erasedIds } from '@ticketing/store/ids/erased-ids.ts';
import { type IdSequence, idSequence } from '@ticketing/store/ids/id-sequence.ts';
import type { PageBudget } from '@ticketing/store/paging/page-budget.ts';
import { deletedTagCollection } from './set-up-store.ts';
import { type SkillStore, skillStore } from './skill/store.ts';
import { type SourceStore, sourceStore } from './source/store.ts';
import { openTextWork, type TextWork } from './source/text-work.ts';

/** The stores and clients that the handlers of this service use. */
export interface Context {
  sources: SourceStore;
  sourceIds: IdSequence;
  skills: SkillStore;
  skillIds: IdSequence;
  deletedTags: ErasedIds;
  textWork: TextWork;
  idempotency: IdempotencyStore;
  pages: PageBudget;
  /** Opens a client for tags, for a call. */
  tags(call: OnBehalfOf): Client<typeof TagService>;
  /** Opens a client for AI agents, for a call. */
  agents(call: OnBehalfOf): Client<typeof AiAgentService>;
  log: Logger;
  /** Unix seconds. */
  now(): number;
}

/** Opens the stores on the database of a kit. */
export function openContext(kit: Kit<unknown, unknown>): Context {
  const { runtime } = kit;
  const { connection } = kit.database;
  const textWork = openTextWork(kit.log);
  kit.onClose(() => textWork.close());
  return {
    sources: sourceStore(connection, runtime),
    sourceIds: idSequence(connection, 'knowledgeSource'),
    skills: skillStore(connection, runtime),
    skillIds: idSequence(connection, 'skill'),
    deletedTags: erasedIds(connection, deletedTagCollection, runtime.now),
    textWork,
    idempotency: kit.idempotency,
    pages: kit.pages,
    tags: kit.openClient('tickets', TagService, { timeoutMs: 5_000 }),
    agents: kit.openClient('intents', AiAgentService, { timeoutMs: 5_000 }),
    log: kit.log,
    now: () => secondsNow(runtime),
  };
}
