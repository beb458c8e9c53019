import { AnalysisService } from '@ticketing/contracts/ticketing/tickets/v1/analysis_service_pb.ts';
import { AttachmentService } from '@ticketing/contracts/ticketing/tickets/v1/attachment_service_pb.ts';
import { ConversationService } from '@ticketing/contracts/ticketing/tickets/v1/conversation_service_pb.ts';
import { CustomerService } from '@ticketing/contracts/ticketing/tickets/v1/customer_service_pb.ts';
import { HistoryService } from '@ticketing/contracts/ticketing/tickets/v1/history_service_pb.ts';
import { MailService } from '@ticketing/contracts/ticketing/tickets/v1/mail_service_pb.ts';
import { SnapshotService } from '@ticketing/contracts/ticketing/tickets/v1/snapshot_service_pb.ts';
import { TagService } from '@ticketing/contracts/ticketing/tickets/v1/tag_service_pb.ts';
import { TicketService } from '@ticketing/contracts/ticketing/tickets/v1/ticket_service_pb.ts';
import { implement, type ServiceImplementation } from '@ticketing/rest/rest-api.ts';
import type { WakefulLoop } from '@ticketing/runtime/wakeful-loop.ts';
import { composeService } from '@ticketing/service-kit/lifecycle/compose-service.ts';
import type { Call } from '@ticketing/service-kit/server/call.ts';
import type { Context } from './application/context.ts';
import { measureErasures } from './application/erasure-metrics.ts';
import { openContext } from './application/open-context.ts';
import { openMailer } from './application/open-mailer.ts';
import { scheduledTasks } from './application/scheduled-tasks.ts';
import { readTicketsConfig } from './config.ts';
import { openOutboxes } from './events/outboxes.ts';
import type { startReceiver } from './mail/start-receiver.ts';
import { measureMails } from './mailer/mail-metrics.ts';
import { applyAnalysis } from './rpc/apply-analysis.ts';
import { checkTicketChange } from './rpc/check-ticket-change.ts';
import { confirmErasure } from './rpc/confirm-erasure.ts';
import { createTag } from './rpc/create-tag.ts';
import { createTicket } from './rpc/create-ticket.ts';
import { deleteAttachment } from './rpc/delete-attachment.ts';
import { deleteConversation } from './rpc/delete-conversation.ts';
import { deleteTag } from './rpc/delete-tag.ts';
import { deleteTicket } from './rpc/delete-ticket.ts';
import { getAttachment } from './rpc/get-attachment.ts';
import { getConversation } from './rpc/get-conversation.ts';
import { getLatestTickets } from './rpc/get-latest-tickets.ts';
import { getTag } from './rpc/get-tag.ts';
import { getTemplateVariables } from './rpc/get-template-variables.ts';
import { getTicket } from './rpc/get-ticket.ts';
import { getTicketHistory } from './rpc/get-ticket-history.ts';
import { getTicketSnapshots } from './rpc/get-ticket-snapshots.ts';
import { getTicketVariables } from './rpc/get-ticket-variables.ts';
import { importCustomers } from './rpc/import-customers.ts';
import { listConversations } from './rpc/list-conversations.ts';
import { listTags } from './rpc/list-tags.ts';
import { listTicketVersions } from './rpc/list-ticket-versions.ts';
import { receiveMail } from './rpc/receive-mail.ts';
import { recordExecution } from './rpc/record-execution.ts';
import { recordHistoryEntry } from './rpc/record-history-entry.ts';
import { replaceAutoExecution } from './rpc/replace-auto-execution.ts';
import { replyToTicket } from './rpc/reply-to-ticket.ts';
import { resendConversation } from './rpc/resend-conversation.ts';
import { searchCustomers } from './rpc/search-customers.ts';
import { searchTickets } from './rpc/search-tickets.ts';
import { storeConversation } from './rpc/store-conversation.ts';
import { updateConversation } from './rpc/update-conversation.ts';
import { updateTag } from './rpc/update-tag.ts';
import { updateTicket } from './rpc/update-ticket.ts';
import { updateTickets } from './rpc/update-tickets.ts';
import { readSettings } from './settings.ts';
import { outgoingMailStore } from './store/outgoing-mail-store.ts';
import { setUpStore } from './store/set-up-store.ts';

/** The tickets service. */
export const service = composeService({
  name: 'tickets',
  readConfig: readTicketsConfig,
  readSettings,
  setUpStore,
  compose(kit) {
    const context = openContext(kit);
    const { receiver } = kit.config;
    measureErasures(context.erasures, kit.metrics.registry, kit.runtime);
    const mailQueue = outgoingMailStore(kit.database.connection);
    const measured = measureMails(mailQueue, kit.metrics.registry, kit.runtime);
    return {
      implementations: implementations(context),
      onCaller(caller) {
        context.profiles
          .remember(caller)
          .catch((error: unknown) => kit.log.warn({ err: error }, 'a profile was not stored'));
      },
      outboxes: openOutboxes(kit.database),
      tasks: scheduledTasks(context),
      loops: [
        { role: 'mailer', start: () => openMailer(context, kit, measured) },
        ...(receiver ? [{ role: 'mail-receiver' as const, start: () => openReceiver(kit, receiver, context) }] : []),
      ],
    };
  },
});

/** Loads the mail server only where it is used. */
async function openReceiver(...options: Parameters<typeof startReceiver>): Promise<WakefulLoop> {
  const receiver = await import('./mail/start-receiver.ts');
  return receiver.startReceiver(...options);
}

function implementations(context: Context): ServiceImplementation<Call>[] {
  return [
    implement(SnapshotService, context, {
      getTicketSnapshots,
      listTicketVersions,
      confirmErasure,
    }),
    implement(AnalysisService, context, { applyAnalysis, recordExecution, replaceAutoExecution }),
    implement(TicketService, context, {
      createTicket,
      getTicket,
      searchTickets,
      getLatestTickets,
      getTicketHistory,
      getTicketVariables,
      getTemplateVariables,
      updateTicket,
      updateTickets,
      checkTicketChange,
      deleteTicket,
    }),
    implement(ConversationService, context, {
      listConversations,
      getConversation,
      replyToTicket,
      storeConversation,
      updateConversation,
      deleteConversation,
      resendConversation,
    }),
    implement(AttachmentService, context, { getAttachment, deleteAttachment }),
    implement(CustomerService, context, { searchCustomers, importCustomers }),
    implement(MailService, context, { receiveMail }),
    implement(HistoryService, context, { recordHistoryEntry }),
    implement(TagService, context, {
      createTag,
      getTag,
      listTags,
      updateTag,
      deleteTag,
    }),
  ];
}
