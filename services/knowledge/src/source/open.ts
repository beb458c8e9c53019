import type { Client } from '@connectrpc/connect';
import { TagService } from '@ticketing/contracts/ticketing/tickets/v1/tag_service_pb.ts';
import type { Runtime } from '@ticketing/runtime/runtime.ts';
import type { OnBehalfOf } from '@ticketing/service-kit/client/service-client.ts';
import type { Kit } from '@ticketing/service-kit/lifecycle/kit.ts';
import type { IdempotencyStore } from '@ticketing/store/idempotency/idempotency-store.ts';
import { type ErasedIds, erasedIds } from '@ticketing/store/ids/erased-ids.ts';
import { type IdSequence, idSequence } from '@ticketing/store/ids/id-sequence.ts';
import type { PageBudget } from '@ticketing/store/paging/page-budget.ts';
import { deletedTagCollection } from './schema.ts';
import { type SourceStore, sourceStore } from './store.ts';
import { openTextWork, type TextWork } from './text-work.ts';

/** The dependencies of the handlers of knowledge sources. */
export interface SourceParts {
  sources: SourceStore;
  sourceIds: IdSequence;
  deletedTags: ErasedIds;
  textWork: TextWork;
  /** Has the stored responses about sources, which are erased with them. */
  idempotency: Pick<IdempotencyStore, 'eraseAbout'>;
  pages: PageBudget;
  /** Opens a client for tags, for a call. */
  tags(call: OnBehalfOf): Client<typeof TagService>;
  runtime: Runtime;
}

type KitOfSources = Pick<
  Kit<unknown, unknown>,
  'database' | 'idempotency' | 'pages' | 'openClient' | 'runtime' | 'log' | 'onClose'
>;

/** Opens the knowledge sources on the database of a kit. */
export function openSources(kit: KitOfSources): SourceParts {
  const { idempotency, pages, runtime } = kit;
  const { connection } = kit.database;
  const textWork = openTextWork(kit.log);
  kit.onClose(() => textWork.close());
  return {
    sources: sourceStore(connection, runtime),
    sourceIds: idSequence(connection, 'knowledgeSource'),
    deletedTags: erasedIds(connection, deletedTagCollection, runtime.now),
    textWork,
    idempotency,
    pages,
    tags: kit.openClient('tickets', TagService, { timeoutMs: 5_000 }),
    runtime,
  };
}
