import { randomBytes } from 'node:crypto';
import { startGateway } from '@ticketing/gateway/service.ts';
import { type TestIdentity, testIdentity } from '@ticketing/testkit/test-identity.ts';
import { applyIndexes } from '@ticketing/tickets/apply-indexes.ts';
import { startTickets } from '@ticketing/tickets/service.ts';
import { expect, inject, vi } from 'vitest';

/** A whole system in this process, on a database of its own. */
export interface System {
  url: string;
  grpcTarget: string;
  identity: TestIdentity;
  stop(): Promise<void>;
}

/** Starts the gateway and the services behind it. */
export async function startSystem(): Promise<System> {
  const identity = testIdentity();
  const environment = {
    ...identity.environment('tickets'),
    TICKETING_TICKETS_GRPC_PORT: '0',
    TICKETING_TICKETS_MONGODB_URI: inject('mongodbUri'),
    TICKETING_TICKETS_MONGODB_DATABASE: `test_${randomBytes(6).toString('hex')}`,
  };
  await applyIndexes(environment);
  const tickets = await startTickets(environment);
  const gateway = await startGateway({
    ...identity.environment('gateway'),
    TICKETING_GATEWAY_TICKETS_URL: `http://127.0.0.1:${tickets.ports.http}`,
  });
  for (const port of [tickets.ports.http, gateway.port]) {
    await vi.waitFor(async () => expect((await fetch(`http://127.0.0.1:${port}/readyz`)).status).toBe(200), {
      timeout: 10_000,
      interval: 20,
    });
  }
  return {
    url: `http://127.0.0.1:${gateway.port}`,
    grpcTarget: `127.0.0.1:${tickets.ports.grpc}`,
    identity,
    async stop() {
      await gateway.stop();
      await tickets.stop();
      identity.remove();
    },
  };
}
