import type { ScheduledTask } from '@ticketing/service-kit/lifecycle/schedule.ts';
import type { Context } from './context.ts';
import { removeDeletedTagsAgain } from './source/deleted-tags.ts';
import { erasePendingResponses } from './source/erase-responses.ts';

const everyMs = 60_000;

/** The tasks of the scheduler role. Every replica runs them; doing the work twice has no effect. */
export function scheduledTasks(context: Context): ScheduledTask[] {
  return [
    { name: 'remove deleted tags', everyMs, run: () => removeDeletedTagsAgain(context) },
    { name: 'remove abandoned changes', everyMs, run: () => context.sources.removeAbandoned() },
    { name: 'erase responses about deleted sources', everyMs, run: () => erasePendingResponses(context) },
  ];
}
