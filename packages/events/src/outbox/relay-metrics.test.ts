import { Registry } from 'prom-client';
import { expect, test } from 'vitest';
import type { Outbox, OutboxState } from './outbox.ts';
import { measureOutboxes } from './relay-metrics.ts';

test('an outbox that cannot be read has no value, also after it had one, and hides no other outbox', async () => {
  let isAvailable = true;
  const outbox = (name: string, state: () => Promise<OutboxState>) => ({ name, state }) as Outbox;
  const state = { events: 2, undeliverable: 0, oldestAt: undefined };
  const registry = new Registry();
  measureOutboxes(
    [
      outbox('tags', async () => {
        if (!isAvailable) throw new Error('unavailable');
        return state;
      }),
      outbox('tickets', async () => state),
    ],
    registry,
  );
  const pending = async () => [...(await registry.metrics()).matchAll(/^outbox_pending.*/gm)].map(([line]) => line);
  expect(await pending()).toEqual(['outbox_pending{outbox="tags"} 2', 'outbox_pending{outbox="tickets"} 2']);
  isAvailable = false;
  expect(await pending()).toEqual(['outbox_pending{outbox="tickets"} 2']);
});
