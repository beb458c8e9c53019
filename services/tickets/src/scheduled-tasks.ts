import type { ScheduledTask } from '@ticketing/service-kit/lifecycle/schedule.ts';
import { forwardAnalysisRequests } from './analysis/forward-requests.ts';
import { sweepTicketFiles } from './attachment/find.ts';
import type { Context } from './context.ts';
import { finishErasures } from './erasure/erase.ts';
import { sweepUnseenMessageIds, sweepUnseenMessages } from './message/sweep-unseen.ts';
import { cleanUpDeletedTags } from './tag/delete.ts';
import { reopenDueTickets } from './ticket/reopen-due.ts';

/**
 * The tasks of the scheduler role of this service. All replicas may run them concurrently: the store ensures that each
 * effect happens once.
 */
export function scheduledTasks(context: Context): ScheduledTask[] {
  return [
    { name: 'reopen due tickets', everyMs: 3_000, run: () => reopenDueTickets(context) },
    { name: 'finish abandoned bulks', everyMs: 10_000, run: () => context.bulks.finishAbandoned() },
    { name: 'finish erasures', everyMs: 10_000, run: () => finishErasures(context) },
    { name: 'forward requests for analyses', everyMs: 2_000, run: () => forwardAnalysisRequests(context) },
    {
      name: 'sweep unseen messages',
      everyMs: 60_000,
      run: () => sweepUnseenMessages({ ...context, messages: context }),
    },
    {
      name: 'sweep unseen message ids',
      everyMs: 60_000,
      run: () => sweepUnseenMessageIds({ ...context, messages: context }),
    },
    { name: 'clean up deleted tags', everyMs: 30_000, run: () => cleanUpDeletedTags(context) },
    { name: 'sweep files', everyMs: 60_000, run: () => sweepTicketFiles(context) },
    { name: 'remove expired responses of the ERP system', everyMs: 60_000, run: () => trimErpResponses(context) },
    { name: 'spread copies of customers', everyMs: 3_000, run: () => spreadCustomerCopies(context) },
    { name: 'close ids', everyMs: 60_000, run: closingOfIds(context) },
    { name: 'remove applied bulks', everyMs: 60_000, run: () => context.bulkStore.removeApplied() },
  ];
}

/** The first run of a process checks the closed ids, because a backup may have been restored while the service was stopped. */
function closingOfIds({ closedIds, runtime }: Context): () => Promise<void> {
  let isChecked = false;
  return async () => {
    if (!isChecked) await closedIds.openIfIncomplete();
    isChecked = true;
    await closedIds.close(new Date(runtime.now()));
  };
}

/** Stores waiting copies of customers in the tickets that the request has not written. */
async function spreadCustomerCopies({ customerCopies }: Context): Promise<void> {
  let mayHaveMore = true;
  while (mayHaveMore) mayHaveMore = await customerCopies.continue();
}

async function trimErpResponses({ erpResponses, erpConfig, runtime }: Context): Promise<void> {
  await erpResponses.trim(new Date(runtime.now()), erpConfig.maxResponses);
}
