import { createLogger } from '@ticketing/runtime/logger.ts';
import { systemRuntime } from '@ticketing/runtime/runtime.ts';
import type { Database } from '@ticketing/store/connection/database.ts';
import { openIdempotencyStore } from '@ticketing/store/idempotency/idempotency-store.ts';
import { erasedIds } from '@ticketing/store/ids/erased-ids.ts';
import { idSequence } from '@ticketing/store/ids/id-sequence.ts';
import { openPageBudget } from '@ticketing/store/paging/page-budget.ts';
import type { Context } from '../src/context.ts';
import { deletedTagCollection } from '../src/set-up-store.ts';
import { skillStore } from '../src/skill/store.ts';
import { sourceStore } from '../src/source/store.ts';
import { openTextWork } from '../src/source/text-work.ts';

/** The context of a process that knows nothing from before. It must not need tags. */
export function newProcess({ connection }: Database): Context {
  const log = createLogger('test', 'silent');
  return {
    sources: sourceStore(connection, systemRuntime),
    sourceIds: idSequence(connection, 'knowledgeSource'),
    skills: skillStore(connection, systemRuntime),
    skillIds: idSequence(connection, 'skill'),
    deletedTags: erasedIds(connection, deletedTagCollection, systemRuntime.now),
    textWork: openTextWork(log),
    idempotency: openIdempotencyStore(connection),
    pages: openPageBudget(),
    tags: () => {
      throw new Error('no tags are needed');
    },
    agents: () => {
      throw new Error('no AI agents are needed');
    },
    log,
    now: () => Math.floor(Date.now() / 1000),
  };
}
