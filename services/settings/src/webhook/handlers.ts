import { createWebhook } from './create.ts';
import { deleteWebhook } from './delete.ts';
import { getWebhook } from './get.ts';
import { listWebhooks } from './list.ts';
import { listWebhookDeliveries } from './list-deliveries.ts';
import { recoverWebhook } from './recover.ts';
import { redeliverWebhookDelivery } from './redeliver.ts';
import { rotateWebhookSecret } from './rotate-secret.ts';
import { testWebhook } from './send-test.ts';
import { updateWebhook } from './update.ts';

/** The handlers of webhook endpoints and their deliveries. */
export const webhookHandlers = {
  createWebhook,
  deleteWebhook,
  getWebhook,
  listWebhookDeliveries,
  listWebhooks,
  recoverWebhook,
  redeliverWebhookDelivery,
  rotateWebhookSecret,
  testWebhook,
  updateWebhook,
};
