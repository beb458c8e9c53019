import { openEventSource } from '@ticketing/testkit/event-source.ts';
import { findLeast } from '@ticketing/testkit/machine-limits.ts';
import { expect, onTestFinished, test } from 'vitest';
import { startSystem } from './harness.ts';

test('a change is seen by a follower within a second of its response', async () => {
  const system = await startSystem();
  onTestFinished(() => system.stop());
  const authorization = `Bearer ${await system.identity.issuerToken({ roleId: 1 })}`;
  const client = await openEventSource(`${system.url}/event`, { authorization });
  await client.next();
  const takenMs = await findLeast('ms', 1_000, async () => {
    const headers = { authorization, 'content-type': 'application/json' };
    const body = JSON.stringify({ channel: 'portal' });
    const { status } = await system.fetch(`${system.url}/ticket`, { method: 'POST', headers, body });
    expect(status).toBe(200);
    const startedAt = performance.now();
    expect((await client.nextData()).event).toBe('ticket.created');
    return performance.now() - startedAt;
  });
  client.close();
  expect(takenMs).toBeLessThan(1_000);
});
