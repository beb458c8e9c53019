import type { Runtime } from '@ticketing/runtime/runtime.ts';
import type { ScheduledTask } from '@ticketing/service-kit/lifecycle/schedule.ts';
import type { Context } from './context.ts';
import { dropMissed } from './template/drop-deleted.ts';
import { dropDeletedFromAiAgents } from './template/drop-from-ai-agents.ts';
import { sweepTemplateFiles } from './template/sweep-files.ts';

const hour = 60 * 60_000;
/** A request that was checked before a deletion has long ended, or its process has. */
const missedMs = hour;
const keptMs = 24 * hour;

/** The scheduled tasks of this service. */
export function scheduledTasks(context: Context, { now }: Pick<Runtime, 'now'>): ScheduledTask[] {
  return [
    {
      name: 'drop deleted tickets and tags',
      everyMs: hour / 6,
      run: async () => {
        await dropMissed(context, now() - missedMs);
        await context.erasedTickets.removeOlderThan(now() - keptMs);
        await context.deletedTags.removeOlderThan(now() - keptMs);
      },
    },
    {
      name: 'have AI agents drop deleted templates',
      everyMs: 5_000,
      run: () => dropDeletedFromAiAgents(context),
    },
    { name: 'sweep files', everyMs: 60_000, run: () => sweepTemplateFiles(context) },
  ];
}
