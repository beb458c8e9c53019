import { ConfigurationService } from '@ticketing/contracts/ticketing/settings/v1/configuration_service_pb.ts';
import { EventService } from '@ticketing/contracts/ticketing/settings/v1/event_service_pb.ts';
import { SettingsService } from '@ticketing/contracts/ticketing/settings/v1/settings_service_pb.ts';
import { SubchannelService } from '@ticketing/contracts/ticketing/settings/v1/subchannel_service_pb.ts';
import { WebhookService } from '@ticketing/contracts/ticketing/settings/v1/webhook_service_pb.ts';
import { bind, implement } from '@ticketing/rest/routes/rest-api.ts';
import { composeService } from '@ticketing/service-kit/lifecycle/compose-service.ts';
import { secretBox } from '@ticketing/text/sealed-text.ts';
import { eventHandler } from './consume.ts';
import { encryptSecretsAgain, printEncryption } from './encrypt-secrets-again.ts';
import { followEvents } from './feed/follow.ts';
import { listEvents } from './feed/list.ts';
import { openFeed } from './feed/open.ts';
import { retentionMs } from './feed/rules/event.ts';
import { setUpStore } from './set-up-store.ts';
import { dropEmailTemplate } from './setting/drop-email-template.ts';
import { getSettingsOfCategory } from './setting/get-category.ts';
import { getConfiguration } from './setting/get-configuration.ts';
import { getSecrets } from './setting/get-secrets.ts';
import { listSettings } from './setting/list.ts';
import { openSettings } from './setting/open.ts';
import { openOutboxes } from './setting/outbox.ts';
import { updateSetting } from './setting/update.ts';
import { updateSettings } from './setting/update-many.ts';
import { createSubchannel } from './subchannel/create.ts';
import { deleteSubchannel } from './subchannel/delete.ts';
import { listSubchannels } from './subchannel/list.ts';
import { openSubchannels } from './subchannel/open.ts';
import { updateSubchannel } from './subchannel/update.ts';
import { createWebhook } from './webhook/create.ts';
import { deleteWebhook } from './webhook/delivery/delete-webhook.ts';
import { eraseTicket } from './webhook/delivery/erase-ticket.ts';
import { listWebhookDeliveries } from './webhook/delivery/list.ts';
import { countDueDeliveries, measureWebhooks } from './webhook/delivery/metrics.ts';
import { openDeliveries } from './webhook/delivery/open.ts';
import { recoverWebhook } from './webhook/delivery/recover.ts';
import { redeliverWebhookDelivery } from './webhook/delivery/redeliver.ts';
import { removeOldDeliveries } from './webhook/delivery/remove-old.ts';
import { testWebhook } from './webhook/delivery/send-test.ts';
import { deliveryStore } from './webhook/delivery/store.ts';
import { openDispatcher } from './webhook/dispatcher/open.ts';
import { getWebhook } from './webhook/get.ts';
import { listWebhooks } from './webhook/list.ts';
import { openWebhooks } from './webhook/open.ts';
import { rotateWebhookSecret } from './webhook/rotate-secret.ts';
import { webhookStore } from './webhook/store.ts';
import { updateWebhook } from './webhook/update.ts';

/**
 * The number of positions that the feed of a restored backup leaves out: more than changes can have happened since the
 * backup, and few enough for a million restores.
 */
const restoredFeedGap = 1_000_000_000;
const minute = 60_000;

/** The settings service. */
export const service = composeService({
  name: 'settings',
  setUpStore,
  compose(kit) {
    const { runtime, log } = kit;
    const { connection } = kit.database;
    const box = secretBox(kit.config.encryptionKeys, runtime);
    const webhooks = webhookStore(connection, runtime);
    const deliveries = deliveryStore(connection, runtime);
    const { count } = measureWebhooks({ webhooks, deliveries, runtime }, kit.metrics.registry);
    const dispatcher = openDispatcher(kit, webhooks, box, count);
    const feed = openFeed(kit);
    const { events } = feed;
    const setting = openSettings(kit, box);
    const { settings, newEvent } = setting;
    const subchannel = openSubchannels(kit.database, setting, webhooks.findBySubchannel);
    const { wakeForEndpoints } = dispatcher;
    const webhook = openWebhooks(kit, { webhooks, secretBox: box, settings, events, wakeForEndpoints });
    const delivery = openDeliveries(kit, { deliveries, webhooks, events, dispatcher });
    const encryption = { settings, webhooks, secretBox: box, newEvent, log };
    return {
      implementations: [
        implement(ConfigurationService, setting, { getConfiguration, getSecrets, dropEmailTemplate }),
        implement(SettingsService, setting, { getSettingsOfCategory, listSettings, updateSetting, updateSettings }),
        implement(SubchannelService, subchannel, {
          listSubchannels,
          createSubchannel,
          updateSubchannel,
          deleteSubchannel,
        }),
        implement(EventService, feed, { listEvents, followEvents }),
        implement(WebhookService, {
          ...bind(webhook, { createWebhook, getWebhook, listWebhooks, rotateWebhookSecret, updateWebhook }),
          ...bind(delivery, {
            deleteWebhook,
            listWebhookDeliveries,
            recoverWebhook,
            redeliverWebhookDelivery,
            testWebhook,
          }),
        }),
      ],
      outboxes: openOutboxes(kit.database),
      handle: eventHandler(delivery, kit.tracer !== undefined),
      handlesDeletions: true,
      eraseTicket: (id) => eraseTicket(delivery, id),
      tasks: [
        {
          name: 'remove old events',
          everyMs: 60 * minute,
          run: () => events.removeOlderThan(new Date(runtime.now() - retentionMs)),
        },
        {
          name: 'encrypt secrets with the current key',
          everyMs: minute,
          run: () => encryptSecretsAgain(encryption),
        },
        { name: 'remove old deliveries', everyMs: 60 * minute, run: () => removeOldDeliveries(delivery, log) },
      ],
      operations: { 'encrypt-secrets': (print) => printEncryption(encryption, print) },
      afterRestore: () => events.restart(restoredFeedGap),
      pending: [{ description: 'deliveries are due and not made yet', count: () => countDueDeliveries(delivery) }],
      loops: [{ role: 'dispatcher', start: dispatcher.start }],
    };
  },
});
