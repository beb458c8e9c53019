import { WebhookDeliveryStatus } from '@ticketing/contracts/ticketing/settings/v1/webhook_service_pb.ts';
import type { DeliveryState } from './delivery.ts';

/** Returns a new delivery of a test. */
export function deliveryFixture(fields: Partial<DeliveryState> & { position: number }): DeliveryState {
  const { position } = fields;
  return {
    id: `dlv_${position}`,
    webhookId: 1,
    eventId: `evt_${position}`,
    eventType: 'ticket.updated',
    ticketId: 1,
    status: WebhookDeliveryStatus.SCHEDULED,
    createdAt: 0,
    dueAt: 0,
    isDelivered: false,
    isRequested: false,
    attemptsMade: 0,
    attempts: [],
    event: null,
    ...fields,
  };
}
