import type { Runtime } from '@ticketing/runtime/runtime.ts';
import type { IdSequence } from '@ticketing/store/ids/id-sequence.ts';
import type { TagCleanup, TagStore } from './store.ts';

/** The dependencies of the handlers of tags. */
export interface TagDeps {
  tags: TagStore;
  tagIds: Pick<IdSequence, 'next'>;
  /** Removes deleted tags from the tickets that still have one, in the name of the actors that deleted the tags. */
  removeTags(tags: readonly Pick<TagCleanup, 'id' | 'deletedBy'>[], signal?: AbortSignal): Promise<void>;
  runtime: Runtime;
}
