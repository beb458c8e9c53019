import type { Context } from './context.ts';
import { takeTagsOff } from './take-tags-off.ts';

/**
 * Finishes the deletions of tags that a process has left behind, and takes tags off the tickets that were written with
 * them meanwhile. May run again, and at once in several processes.
 */
export async function finishTagDeletions(context: Context): Promise<void> {
  const startedAt = context.now();
  const leaving = await context.tags.deletedTags();
  if (leaving.length === 0) return;
  await takeTagsOff(context, leaving);
  for (const { id, cleanUpUntil } of leaving) if (cleanUpUntil < startedAt) await context.tags.finishCleanup(id);
}
