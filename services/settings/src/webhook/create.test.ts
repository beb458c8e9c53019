import { create } from '@bufbuild/protobuf';
import { CreateWebhookRequestSchema } from '@ticketing/contracts/ticketing/settings/v1/webhook_service_pb.ts';
import { systemRuntime } from '@ticketing/runtime/runtime.ts';
import type { Call } from '@ticketing/service-kit/call/call.ts';
import { secretBox } from '@ticketing/text/sealed-text.ts';
import { expect, it } from 'vitest';
import { createWebhook } from './create.ts';
import type { WebhookParts } from './open.ts';
import type { WebhookState } from './rules/endpoint.ts';

const request = create(CreateWebhookRequestSchema, {});

/** The parts that all tests share. */
const shared = {
  runtime: systemRuntime,
  secretBox: secretBox([systemRuntime.randomBytes(32)], systemRuntime),
  events: { bounds: async () => undefined },
  outbound: { checkUrl: () => undefined },
};

/** Requests an endpoint when there are too many. Returns the ids that are free for others afterwards. */
async function releasedBy(idempotency: Call['idempotency']): Promise<number[]> {
  const released: number[] = [];
  const parts = {
    ...shared,
    webhookIds: { next: async () => 7, release: (id: number) => released.push(id) },
    webhooks: { add: async () => false },
  };
  const refused = createWebhook(parts as unknown as WebhookParts, { idempotency } as Call, request);
  await expect(refused).rejects.toMatchObject({ reason: 'too_many_webhooks' });
  return released;
}

it('an id that was not used is free again, unless it is reserved for a repetition of the request', async () => {
  expect(await releasedBy(undefined)).toEqual([7]);
  const reserve = async (_name: string, choose: () => Promise<number>) => choose();
  expect(await releasedBy({ id: 'a', reserve, reserved: () => undefined, addSubject: () => undefined })).toEqual([]);
});

it('wakes the dispatcher of its process once the endpoint is stored', async () => {
  const stored: WebhookState[] = [];
  const storedAtWake: number[] = [];
  const parts = {
    ...shared,
    webhookIds: { next: async () => 7 },
    webhooks: { add: async (webhook: WebhookState) => stored.push(webhook) > 0, find: async () => stored[0] },
    wakeForEndpoints: () => storedAtWake.push(stored.length),
  };
  const { webhook } = await createWebhook(parts as unknown as WebhookParts, {} as Call, request);
  expect(webhook?.webhook?.id).toBe(7);
  expect(storedAtWake).toEqual([1]);
});
