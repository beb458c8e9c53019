import { ConfigurationService } from '@ticketing/contracts/ticketing/settings/v1/configuration_service_pb.ts';
import { EventService } from '@ticketing/contracts/ticketing/settings/v1/event_service_pb.ts';
import { SettingsService } from '@ticketing/contracts/ticketing/settings/v1/settings_service_pb.ts';
import { SubchannelService } from '@ticketing/contracts/ticketing/settings/v1/subchannel_service_pb.ts';
import { WebhookService } from '@ticketing/contracts/ticketing/settings/v1/webhook_service_pb.ts';
import { implement } from '@ticketing/rest/rest-api.ts';
import { composeService } from '@ticketing/service-kit/lifecycle/compose-service.ts';
import { openContext } from './application/context.ts';
import { countDueDeliveries } from './application/due-deliveries.ts';
import { printEncryption } from './application/encrypt-secrets-again.ts';
import { eraseTicket } from './application/erase-ticket.ts';
import { openDispatcher } from './application/open-dispatcher.ts';
import { scheduledTasks } from './application/scheduled-tasks.ts';
import { measureWebhooks } from './dispatcher/webhook-metrics.ts';
import { eventHandler } from './events/consume.ts';
import { openOutboxes } from './events/setting-changed.ts';
import { createSubchannel } from './rpc/create-subchannel.ts';
import { deleteSubchannel } from './rpc/delete-subchannel.ts';
import { dropEmailTemplate } from './rpc/drop-email-template.ts';
import { followEvents } from './rpc/follow-events.ts';
import { getConfiguration } from './rpc/get-configuration.ts';
import { getSecrets } from './rpc/get-secrets.ts';
import { getSettingsOfCategory } from './rpc/get-settings-of-category.ts';
import { listEvents } from './rpc/list-events.ts';
import { listSettings } from './rpc/list-settings.ts';
import { listSubchannels } from './rpc/list-subchannels.ts';
import { updateSetting } from './rpc/update-setting.ts';
import { updateSettings } from './rpc/update-settings.ts';
import { updateSubchannel } from './rpc/update-subchannel.ts';
import { webhookHandlers } from './rpc/webhook-handlers.ts';
import { setUpStore } from './store/set-up-store.ts';

/**
 * How many positions a feed of a restored backup leaves out: more than changes can have happened since the backup, and few
 * enough for a million restores.
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
