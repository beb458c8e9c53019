import { createWebhook } from './create.ts';
import { deleteWebhook } from './delete.ts';
import { listWebhookDeliveries } from './delivery/list.ts';
import { recoverWebhook } from './delivery/recover.ts';
import { redeliverWebhookDelivery } from './delivery/redeliver.ts';
import { testWebhook } from './delivery/send-test.ts';
import { getWebhook } from './get.ts';
import { listWebhooks } from './list.ts';
import { rotateWebhookSecret } from './rotate-secret.ts';
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
