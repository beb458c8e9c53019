import type { Logger } from '@ticketing/runtime/logger.ts';
import { isPartOfTicket } from '../message/checks.ts';
import type { ExternalMessageIdStore, MessageReference } from '../message/external-id-store.ts';
import type { DeliveryReport } from '../message/rules/delivery-report.ts';
import type { TicketStore } from '../ticket/store/store.ts';
import type { FailureStore, ReportOutcome } from './failure-store.ts';

export interface TakeReportDeps {
  tickets: Pick<TicketStore, 'findMessages'>;
  externalMessageIds: Pick<ExternalMessageIdStore, 'find'>;
  failures: FailureStore;
  /** Has the ticket of a message show its delivery. Never fails. */
  showDelivery(message: MessageReference): Promise<void>;
  /** Counts a report. */
  count(outcome: ReportOutcome): void;
  log: Logger;
}

/**
 * Takes the report of a mail server: records that a message of ours has not reached a recipient, and notes it in its ticket.
 * `returned` is the message to whose signed address the report was sent. Returns the message that it is about; undefined
 * if it names none of ours, or nobody to whom that was sent. A report may be taken several times.
 *
 * Source: docs/reference/api.md, Delivery reports.
 */
export async function takeReport(
  deps: TakeReportDeps,
  report: DeliveryReport,
  returned: MessageReference | undefined,
): Promise<MessageReference | undefined> {
  const named = await deps.externalMessageIds.find(report.messageIds);
  for (const message of [...(returned ? [returned] : []), ...named]) {
    const { ticketId, conversationId } = message;
    if (!(await isPartOfTicket(deps, message))) continue;
    const outcome = await deps.failures.record(message, report);
    if (outcome === 'foreign') continue;
    deps.count(outcome);
    deps.log.info({ ticketId, conversationId, outcome }, 'a mail server has reported the delivery of a mail');
    if (outcome === 'failed') await deps.showDelivery({ ticketId, conversationId });
    return { ticketId, conversationId };
  }
  deps.count('foreign');
  return undefined;
}
