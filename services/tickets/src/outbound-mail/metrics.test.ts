import { Registry } from 'prom-client';
import { expect, test } from 'vitest';
import { measureMails } from './open.ts';

test('while the queue cannot be read there are no values, also not the last ones', async () => {
  let isAvailable = true;
  const registry = new Registry();
  const queue = {
    async size() {
      if (!isAvailable) throw new Error('unavailable');
      return { count: 3, oldestAt: new Date(1_000) };
    },
  };
  measureMails(queue, registry, { now: () => 61_000 });
  expect(await registry.metrics()).toMatch(/^mails_queued 3\n[\s\S]*^mails_oldest_queued_seconds 60$/m);
  isAvailable = false;
  expect(await registry.metrics()).not.toMatch(/^mails_(?:queued|oldest_queued_seconds) /m);
});
