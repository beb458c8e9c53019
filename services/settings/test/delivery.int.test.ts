import { TicketChangeType } from '@ticketing/contracts/ticketing/events/v1/ticket_changed_pb.ts';
import { Webhook } from 'standardwebhooks';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { startReceiver, startWebhookHarness, type WebhookHarness } from './webhook-harness.ts';

let harness: WebhookHarness;

beforeAll(async () => {
  harness = await startWebhookHarness();
});

afterAll(() => harness.stop());

it('delivers each change, signed, to the endpoints whose filters take it', async () => {
  const receiver = await startReceiver();
  const { id, secret } = await harness.createWebhook({ url: receiver.url, eventTypes: ['ticket.created'] });
  const [first, , third] = await harness.publish(
    { ticketId: 1, type: TicketChangeType.TICKET_CREATED },
    { ticketId: 1, version: 2 },
    { ticketId: 2, type: TicketChangeType.TICKET_CREATED },
  );
  await expect.poll(() => receiver.received.length).toBe(2);
  const [one] = receiver.received;
  if (!one) throw new Error('nothing was received');
  expect(new Webhook(secret).verify(one.body, one.headers)).toMatchObject({ type: 'ticket.created' });
  expect(receiver.received.map(({ headers }) => headers['webhook-id']).sort()).toEqual([first, third].sort());
  await expect
    .poll(async () => (await harness.deliveries(id)).map(({ eventId, status }) => [eventId, status]))
    .toEqual(
      expect.arrayContaining([
        [first, 'delivered'],
        [third, 'delivered'],
      ]),
    );
  await receiver.stop();
  await harness.request('DELETE', `/webhook/${id}`);
});
