import type { SourceParts } from './open.ts';

/** Tags are kept for this long, because a request that began before the deletion of a tag may still write it. */
const keptMs = 60 * 60_000;

/** Removes deleted tags from all sources, and remembers them, because a source may still be written with one. */
export async function removeDeletedTags(
  { sources, deletedTags }: Pick<SourceParts, 'sources' | 'deletedTags'>,
  tags: readonly number[],
): Promise<void> {
  for (const tag of new Set(tags)) {
    await deletedTags.add(tag);
    await sources.removeTag(tag);
  }
}

/** Removes the tags again that were deleted lately. It may run several times, also at once in several processes. */
export async function removeDeletedTagsAgain({ sources, deletedTags, runtime }: SourceParts): Promise<void> {
  const keptSince = runtime.now() - keptMs;
  // Includes older tags, in case no process has run this for a while.
  for (const tag of await deletedTags.since(0)) await sources.removeTag(tag);
  await deletedTags.removeOlderThan(keptSince);
}
