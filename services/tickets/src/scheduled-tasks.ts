import type { WorkFound } from '@ticketing/runtime/wakeful-loop.ts';
import type { ScheduledTask } from '@ticketing/service-kit/lifecycle/schedule.ts';
import { forwardAnalysisRequests, type RequestDeps } from './analysis/requests.ts';
import { type AttachmentDeps, sweepTicketFiles } from './attachment/attachments.ts';
import type { CreationStore } from './bulk/creation-store.ts';
import type { Creations } from './bulk/creations.ts';
import type { BulkStore } from './bulk/store.ts';
import type { Bulks } from './bulk/update.ts';
import { type ErasureDeps, finishErasures } from './erasure/erase.ts';
import { removeOldRawMails } from './inbound-mail/raw-mail.ts';
import { type SweepDeps, sweepUnseenMessageIds, sweepUnseenMessages } from './message/delete.ts';
import { type MessageWordsDeps, refreshOutdated } from './message/words.ts';
import { type ShowDeps, showDeliveries } from './outbound-mail/show-delivery.ts';
import { cleanUpDeletedTags, type TagDeps } from './tag/tags.ts';
import type { ClosedIdStore } from './ticket/store/closed-id-store.ts';
import type { CustomerCopyStore } from './ticket/store/customer-copy-store.ts';
import { type ReopenDeps, reopenDueTickets } from './ticket/system-changes.ts';

/** The features that have tasks. */
interface TaskDeps {
  reopening: ReopenDeps;
  bulk: {
    bulks: Pick<Bulks, 'finishAbandoned'>;
    store: Pick<BulkStore, 'removeApplied'>;
    creations: Pick<Creations, 'finishAbandoned'>;
    creationStore: Pick<CreationStore, 'removeFinished'>;
  };
  erasure: ErasureDeps;
  requests: RequestDeps;
  message: SweepDeps;
  words: MessageWordsDeps;
  deliveries: ShowDeps;
  tag: TagDeps;
  attachment: AttachmentDeps;
  rawMail: Parameters<typeof removeOldRawMails>[0];
  stores: { closedIds: ClosedIdStore; customerCopies: CustomerCopyStore; trimErpResponses(): Promise<unknown> };
}

/**
 * The tasks of the scheduler role of this service. All replicas may run them concurrently: the store ensures that each
 * effect happens once.
 */
export function scheduledTasks(deps: TaskDeps): ScheduledTask[] {
  const { bulk, message, stores } = deps;
  return [
    { name: 'reopen due tickets', everyMs: 3_000, run: () => reopenDueTickets(deps.reopening) },
    { name: 'finish abandoned bulks', everyMs: 10_000, run: () => bulk.bulks.finishAbandoned() },
    { name: 'finish abandoned creations', everyMs: 10_000, run: () => bulk.creations.finishAbandoned() },
    { name: 'finish erasures', everyMs: 10_000, run: () => finishErasures(deps.erasure) },
    { name: 'forward requests for analyses', everyMs: 2_000, run: () => forwardAnalysisRequests(deps.requests) },
    { name: 'sweep unseen messages', everyMs: 60_000, run: () => sweepUnseenMessages(message) },
    { name: 'sweep unseen message ids', everyMs: 60_000, run: () => sweepUnseenMessageIds(message) },
    { name: 'show deliveries', everyMs: 10_000, run: () => showDeliveries(deps.deliveries) },
    { name: 'refresh search words', everyMs: 10_000, run: refreshing(deps.words) },
    { name: 'clean up deleted tags', everyMs: 30_000, run: () => cleanUpDeletedTags(deps.tag) },
    { name: 'sweep files', everyMs: 60_000, run: () => sweepTicketFiles(deps.attachment) },
    { name: 'remove old raw mails', everyMs: 600_000, run: () => removeOldRawMails(deps.rawMail) },
    { name: 'remove expired responses of the ERP system', everyMs: 60_000, run: () => stores.trimErpResponses() },
    { name: 'spread copies of customers', everyMs: 3_000, run: () => spreadCustomerCopies(stores) },
    { name: 'close ids', everyMs: 60_000, run: closingOfIds(stores, deps.reopening) },
    { name: 'remove applied bulks', everyMs: 60_000, run: () => bulk.store.removeApplied() },
    { name: 'remove finished creations', everyMs: 60_000, run: () => bulk.creationStore.removeFinished() },
  ];
}

/** Each run goes on where the one before has ended. */
function refreshing(deps: MessageWordsDeps): () => Promise<WorkFound> {
  let after = 0;
  return async () => {
    after = await refreshOutdated(deps, after);
    return after > 0 ? 'more' : 'nothing';
  };
}

/** The first run of a process checks the closed ids, because a backup may have been restored while the service was stopped. */
function closingOfIds(
  { closedIds }: Pick<TaskDeps['stores'], 'closedIds'>,
  { runtime }: Pick<ReopenDeps, 'runtime'>,
): () => Promise<void> {
  let isChecked = false;
  return async () => {
    if (!isChecked) await closedIds.openIfIncomplete();
    isChecked = true;
    await closedIds.close(new Date(runtime.now()));
  };
}

/** Stores waiting copies of customers in the tickets that the request has not written. */
async function spreadCustomerCopies({ customerCopies }: Pick<TaskDeps['stores'], 'customerCopies'>): Promise<void> {
  let mayHaveMore = true;
  while (mayHaveMore) mayHaveMore = await customerCopies.continue();
}
