import { Agent } from 'node:http';
import { holdTimer } from '@ticketing/testkit/held-timer.ts';
import { expect, it, vi } from 'vitest';
import { startHarness } from './harness.ts';

// guarantee: F10
it('completes every accepted request before it stops, under load', async () => {
  const drainMs = 60_000;
  const harness = await startHarness({ DRAIN_MS: String(drainMs), RATE_LIMITS: 'user=1000000' });
  const agent = new Agent({ keepAlive: true, maxSockets: 8 });
  const statuses: number[] = [];
  let isSending = true;
  let inFlight = 0;
  const load = Array.from({ length: 8 }, async () => {
    while (isSending) {
      inFlight += 1;
      statuses.push((await harness.call('POST', '/ticket', { body: '{}', agent })).status);
      inFlight -= 1;
    }
  });
  await vi.waitFor(() => expect(statuses.length).toBeGreaterThan(50), { timeout: 30_000 });

  // The service has not yet responded to one request when the gateway closes.
  const slow = Promise.withResolvers<() => void>();
  harness.stub.next((_, response) => slow.resolve(() => response.end('{}')));
  const finish = await slow.promise;

  const drain = holdTimer((ms) => ms === drainMs);
  const stopped = harness.gateway.stop();
  await vi.waitFor(async () => expect((await harness.callBare('GET', '/readyz')).status).toBe(503), {
    timeout: 30_000,
  });
  expect((await harness.call('GET', '/ticket/1')).headers.connection).toBe('close');
  // By now a load balancer would have seen that the gateway is not ready, and would send nothing new.
  isSending = false;
  await expect.poll(() => inFlight).toBe(1);
  (await drain)();
  await expect.poll(() => harness.callBare('GET', '/readyz').catch(() => 'refused')).toBe('refused');
  finish();
  await Promise.all([...load, stopped]);
  expect(new Set(statuses)).toEqual(new Set([200]));
  agent.destroy();
  await harness.stub.close();
  harness.identity.remove();
});
