import { createLogger } from '@ticketing/runtime/logger.ts';
import { systemRuntime } from '@ticketing/runtime/runtime.ts';
import type { Database } from '@ticketing/store/connection/database.ts';
import { openIdempotencyStore } from '@ticketing/store/idempotency/idempotency-store.ts';
import { erasedIds } from '@ticketing/store/ids/erased-ids.ts';
import { idSequence } from '@ticketing/store/ids/id-sequence.ts';
import { openPageBudget } from '@ticketing/store/paging/page-budget.ts';
import type { SourceParts } from '../src/source/open.ts';
import { deletedTagCollection } from '../src/source/schema.ts';
import { sourceStore } from '../src/source/store.ts';
import { openTextWork } from '../src/source/text-work.ts';

/** The dependencies of a process that knows nothing from before. It must not need tags. */
export function newProcess({ connection }: Database): SourceParts {
  return {
    sources: sourceStore(connection, systemRuntime),
    sourceIds: idSequence(connection, 'knowledgeSource'),
    deletedTags: erasedIds(connection, deletedTagCollection, systemRuntime.now),
    textWork: openTextWork(createLogger('test', 'silent')),
    idempotency: openIdempotencyStore(connection),
    pages: openPageBudget(),
    tags: () => {
      throw new Error('no tags are needed');
    },
    runtime: systemRuntime,
  };
}
