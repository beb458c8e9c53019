import { ConfigurationService } from '@ticketing/contracts/ticketing/settings/v1/configuration_service_pb.ts';
import { WebhookService } from '@ticketing/contracts/ticketing/settings/v1/webhook_service_pb.ts';
import { implement } from '@ticketing/rest/rest-api.ts';
import { composeService } from '@ticketing/service-kit/lifecycle/compose-service.ts';
import { openContext } from './application/context.ts';
import { eraseTicket } from './application/erase-ticket.ts';
import { openDispatcher } from './application/open-dispatcher.ts';
import { scheduledTasks } from './application/scheduled-tasks.ts';
import { eventHandler } from './events/consume.ts';
import { openOutboxes } from './events/setting-changed.ts';
import { getConfiguration } from './rpc/get-configuration.ts';
import { getSecrets } from './rpc/get-secrets.ts';
import { webhookHandlers } from './rpc/webhook-handlers.ts';
import { setUpStore } from './store/set-up-store.ts';

/** The settings service. */
export const service = composeService({
  name: 'settings',
  setUpStore,
  compose(kit) {
    const context = openContext(kit);
    return {
      implementations: [
        implement(ConfigurationService, context, { getConfiguration, getSecrets }),
        implement(WebhookService, context, webhookHandlers),
      ],
      outboxes: openOutboxes(kit.database),
      handle: eventHandler(context),
      handlesDeletions: true,
      eraseTicket: (id) => eraseTicket(context, id),
      tasks: scheduledTasks(context),
      loops: [{ role: 'dispatcher', start: () => openDispatcher(context, kit) }],
    };
  },
});
