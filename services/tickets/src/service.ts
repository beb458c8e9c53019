import { AnalysisService } from '@ticketing/contracts/ticketing/tickets/v1/analysis_service_pb.ts';
import { AttachmentService } from '@ticketing/contracts/ticketing/tickets/v1/attachment_service_pb.ts';
import { ConversationService } from '@ticketing/contracts/ticketing/tickets/v1/conversation_service_pb.ts';
import { CustomerService } from '@ticketing/contracts/ticketing/tickets/v1/customer_service_pb.ts';
import { HistoryService } from '@ticketing/contracts/ticketing/tickets/v1/history_service_pb.ts';
import { MailService } from '@ticketing/contracts/ticketing/tickets/v1/mail_service_pb.ts';
import { SnapshotService } from '@ticketing/contracts/ticketing/tickets/v1/snapshot_service_pb.ts';
import { TagService } from '@ticketing/contracts/ticketing/tickets/v1/tag_service_pb.ts';
import { TicketService } from '@ticketing/contracts/ticketing/tickets/v1/ticket_service_pb.ts';
import { implement, type ServiceImplementation } from '@ticketing/rest/routes/rest-api.ts';
import type { WakefulLoop } from '@ticketing/runtime/wakeful-loop.ts';
import type { Call } from '@ticketing/service-kit/call/call.ts';
import { composeService } from '@ticketing/service-kit/lifecycle/compose-service.ts';
import { applyAnalysis } from './analysis/apply.ts';
import { recordExecution, replaceAutoExecution } from './analysis/execution.ts';
import { deleteAttachment } from './attachment/delete.ts';
import { getAttachment } from './attachment/get.ts';
import { updateTickets } from './bulk/update.ts';
import { readTicketsConfig } from './config.ts';
import type { Context } from './context.ts';
import { importCustomers } from './customer/import.ts';
import { searchCustomers } from './customer/search.ts';
import { confirmErasure } from './erasure/confirm.ts';
import { measureErasures } from './erasure/metrics.ts';
import { getTicketHistory } from './history/get.ts';
import { recordHistoryEntry } from './history/record-entry.ts';
import { receiveMail } from './inbound-mail/receive.ts';
import type { startReceiver } from './inbound-mail/start-receiver.ts';
import { deleteConversation } from './message/delete.ts';
import { getConversation } from './message/get.ts';
import { listConversations } from './message/list.ts';
import { replyToTicket } from './message/reply.ts';
import { storeConversation } from './message/store-conversation.ts';
import { updateConversation } from './message/update.ts';
import { openContext } from './open-context.ts';
import { measureMails, openMailer } from './outbound-mail/open.ts';
import { resendConversation } from './outbound-mail/resend.ts';
import { outgoingMailStore } from './outbound-mail/store.ts';
import { openOutboxes } from './outboxes.ts';
import { getLatestTickets } from './queue/get-latest.ts';
import { scheduledTasks } from './scheduled-tasks.ts';
import { setUpStore } from './set-up-store.ts';
import { readSettings } from './settings.ts';
import { createTag } from './tag/create.ts';
import { deleteTag } from './tag/delete.ts';
import { getTag, listTags } from './tag/list.ts';
import { updateTag } from './tag/update.ts';
import { checkTicketChange } from './ticket/check-change.ts';
import { createTicket } from './ticket/create.ts';
import { deleteTicket } from './ticket/delete.ts';
import { getTicket } from './ticket/get.ts';
import { getTicketSnapshots } from './ticket/get-snapshots.ts';
import { listTicketVersions } from './ticket/list-versions.ts';
import { searchTickets } from './ticket/search.ts';
import { getTicketVariables } from './ticket/template/get-ticket-variables.ts';
import { getTemplateVariables } from './ticket/template/get-variables.ts';
import { updateTicket } from './ticket/update.ts';

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
  const receiver = await import('./inbound-mail/start-receiver.ts');
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
