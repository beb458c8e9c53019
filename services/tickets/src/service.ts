import { AnalysisService } from '@ticketing/contracts/ticketing/tickets/v1/analysis_service_pb.ts';
import { AttachmentService } from '@ticketing/contracts/ticketing/tickets/v1/attachment_service_pb.ts';
import { ConversationService } from '@ticketing/contracts/ticketing/tickets/v1/conversation_service_pb.ts';
import { CustomerService } from '@ticketing/contracts/ticketing/tickets/v1/customer_service_pb.ts';
import { HistoryService } from '@ticketing/contracts/ticketing/tickets/v1/history_service_pb.ts';
import { MailService } from '@ticketing/contracts/ticketing/tickets/v1/mail_service_pb.ts';
import { SnapshotService } from '@ticketing/contracts/ticketing/tickets/v1/snapshot_service_pb.ts';
import { TagService } from '@ticketing/contracts/ticketing/tickets/v1/tag_service_pb.ts';
import { TicketService } from '@ticketing/contracts/ticketing/tickets/v1/ticket_service_pb.ts';
import { tagChangedTopic, ticketChangedTopic } from '@ticketing/contracts/topics.ts';
import { type Outbox, openOutbox } from '@ticketing/events/outbox/outbox.ts';
import { implement } from '@ticketing/rest/routes/rest-api.ts';
import type { WakefulLoop } from '@ticketing/runtime/wakeful-loop.ts';
import { composeService } from '@ticketing/service-kit/lifecycle/compose-service.ts';
import type { Database } from '@ticketing/store/connection/database.ts';
import { readTicketsConfig } from './config.ts';
import { measureErasures } from './erasure/erase.ts';
import type { startReceiver } from './inbound-mail/smtp-receiver.ts';
import { openFeatures } from './open-features.ts';
import { setUpStore } from './set-up-store.ts';
import { readSettings } from './settings.ts';
import { tagCollection } from './tag/store.ts';
import { tagChangedMessage } from './tag/to-proto.ts';
import { ticketCollection } from './ticket/store/schema.ts';
import { ticketChangedMessage } from './ticket/to-proto.ts';

/** The tickets service. */
export const service = composeService({
  name: 'tickets',
  readConfig: readTicketsConfig,
  readSettings,
  setUpStore,
  compose(kit) {
    const features = openFeatures(kit);
    const { receiver } = kit.config;
    measureErasures(features.stores.erasures, kit.metrics.registry, kit.runtime);
    return {
      implementations: [
        implement(TicketService, features.ticket),
        implement(SnapshotService, features.snapshot),
        implement(ConversationService, features.conversation),
        implement(CustomerService, features.customer),
        implement(AnalysisService, features.analysis),
        implement(AttachmentService, features.attachment),
        implement(MailService, features.mail),
        implement(HistoryService, features.history),
        implement(TagService, features.tag),
      ],
      onCaller(caller) {
        features.profiles
          .remember(caller)
          .catch((error: unknown) => kit.log.warn({ err: error }, 'a profile was not stored'));
      },
      outboxes: openOutboxes(kit.database),
      tasks: features.tasks,
      loops: [
        { role: 'mailer', start: features.mailer.start },
        ...(receiver
          ? [{ role: 'mail-receiver' as const, start: () => openReceiver(kit, receiver, features.inboundMail) }]
          : []),
      ],
    };
  },
});

/** Loads the mail server only where it is used. */
async function openReceiver(...options: Parameters<typeof startReceiver>): Promise<WakefulLoop> {
  const receiver = await import('./inbound-mail/smtp-receiver.ts');
  return receiver.startReceiver(...options);
}

/** Opens the outboxes of tickets and tags, from which the relay sends the events of this service. */
function openOutboxes({ connection }: Pick<Database, 'connection'>): Outbox[] {
  return [
    openOutbox(connection.collection(ticketCollection), {
      name: 'tickets',
      topic: ticketChangedTopic.name,
      toMessage: ticketChangedMessage,
    }),
    openOutbox(connection.collection(tagCollection), {
      name: 'tags',
      topic: tagChangedTopic.name,
      toMessage: tagChangedMessage,
    }),
  ];
}
