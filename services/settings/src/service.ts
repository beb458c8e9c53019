import { ConfigurationService } from '@ticketing/contracts/ticketing/settings/v1/configuration_service_pb.ts';
import { EventService } from '@ticketing/contracts/ticketing/settings/v1/event_service_pb.ts';
import { SettingsService } from '@ticketing/contracts/ticketing/settings/v1/settings_service_pb.ts';
import { SubchannelService } from '@ticketing/contracts/ticketing/settings/v1/subchannel_service_pb.ts';
import { WebhookService } from '@ticketing/contracts/ticketing/settings/v1/webhook_service_pb.ts';
import { implement } from '@ticketing/rest/rest-api.ts';
import { composeService } from '@ticketing/service-kit/lifecycle/compose-service.ts';
import { eventHandler } from './consume.ts';
import { openContext } from './context.ts';
import { printEncryption } from './encrypt-secrets-again.ts';
import { followEvents } from './feed/follow.ts';
import { listEvents } from './feed/list.ts';
import { scheduledTasks } from './scheduled-tasks.ts';
import { setUpStore } from './set-up-store.ts';
import { dropEmailTemplate } from './setting/drop-email-template.ts';
import { getSettingsOfCategory } from './setting/get-category.ts';
import { getConfiguration } from './setting/get-configuration.ts';
import { getSecrets } from './setting/get-secrets.ts';
import { listSettings } from './setting/list.ts';
import { openOutboxes } from './setting/outbox.ts';
import { updateSetting } from './setting/update.ts';
import { updateSettings } from './setting/update-many.ts';
import { createSubchannel } from './subchannel/create.ts';
import { deleteSubchannel } from './subchannel/delete.ts';
import { listSubchannels } from './subchannel/list.ts';
import { updateSubchannel } from './subchannel/update.ts';
import { countDueDeliveries } from './webhook/delivery/due.ts';
import { eraseTicket } from './webhook/delivery/erase-ticket.ts';
import { measureWebhooks } from './webhook/delivery/metrics.ts';
import { openDispatcher } from './webhook/dispatcher/open.ts';
import { webhookHandlers } from './webhook/handlers.ts';

/**
 * The number of positions that the feed of a restored backup leaves out: more than changes can have happened since the
 * backup, and few enough for a million restores.
 */
const restoredFeedGap = 1_000_000_000;

/** The settings service. */
export const service = composeService({
  name: 'settings',
  setUpStore,
  compose(kit) {
    const context = openContext(kit);
    const measured = measureWebhooks(context, kit.metrics.registry);
    return {
      implementations: [
        implement(ConfigurationService, context, { getConfiguration, getSecrets, dropEmailTemplate }),
        implement(SettingsService, context, { getSettingsOfCategory, listSettings, updateSetting, updateSettings }),
        implement(SubchannelService, context, {
          listSubchannels,
          createSubchannel,
          updateSubchannel,
          deleteSubchannel,
        }),
        implement(EventService, context, { listEvents, followEvents }),
        implement(WebhookService, context, webhookHandlers),
      ],
      outboxes: openOutboxes(kit.database),
      handle: eventHandler(context),
      handlesDeletions: true,
      eraseTicket: (id) => eraseTicket(context, id),
      tasks: scheduledTasks(context),
      operations: { 'encrypt-secrets': (print) => printEncryption(context, print) },
      afterRestore: () => context.events.beginAnew(restoredFeedGap),
      pending: [{ description: 'deliveries are due and not made yet', count: () => countDueDeliveries(context) }],
      loops: [{ role: 'dispatcher', start: () => openDispatcher(context, kit, measured) }],
    };
  },
});
