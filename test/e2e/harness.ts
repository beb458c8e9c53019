import { randomBytes } from 'node:crypto';
import { startGateway } from '@ticketing/gateway/service.ts';
import { startReporting } from '@ticketing/reporting/service.ts';
import { setUp as setUpReporting } from '@ticketing/reporting/set-up.ts';
import { busVariables } from '@ticketing/testkit/bus-variables.ts';
import { type CheckedFetch, checkedFetch } from '@ticketing/testkit/checked-fetch.ts';
import { type TestIdentity, testIdentity } from '@ticketing/testkit/test-identity.ts';
import { startTickets } from '@ticketing/tickets/service.ts';
import { setUp as setUpTickets } from '@ticketing/tickets/set-up.ts';
import { expect, inject, vi } from 'vitest';

/** A whole system in this process, on a database of its own. */
export interface System {
  url: string;
  /** Checks every response against the OpenAPI document of the gateway. */
  fetch: CheckedFetch;
  grpcTarget: string;
  identity: TestIdentity;
  /** The variables of its services. */
  environment: Record<string, string>;
  stop(): Promise<void>;
}

/** Starts the gateway and the services behind it. */
export async function startSystem(): Promise<System> {
  const identity = testIdentity();
  const name = `test_${randomBytes(6).toString('hex')}`;
  const storing = (service: string) => ({
    ...identity.environment(service),
    [`TICKETING_${service.toUpperCase()}_GRPC_PORT`]: '0',
    [`TICKETING_${service.toUpperCase()}_MONGODB_URI`]: inject('mongodbUri'),
    [`TICKETING_${service.toUpperCase()}_MONGODB_DATABASE`]: `${name}_${service}`,
    ...busVariables(service, name, inject('mongodbUri'), inject('kafkaBrokers')),
  });
  const ofTickets = storing('tickets');
  await setUpTickets(ofTickets);
  const tickets = await startTickets(ofTickets);
  const ofReporting = {
    ...storing('reporting'),
    TICKETING_REPORTING_TICKETS_TARGET: `127.0.0.1:${tickets.ports.grpc}`,
  };
  await setUpReporting(ofReporting);
  const reporting = await startReporting(ofReporting);
  const gateway = await startGateway({
    ...identity.environment('gateway'),
    TICKETING_GATEWAY_TICKETS_URL: `http://127.0.0.1:${tickets.ports.http}`,
    TICKETING_GATEWAY_REPORTING_URL: `http://127.0.0.1:${reporting.ports.http}`,
  });
  for (const port of [tickets.ports.http, reporting.ports.http, gateway.port]) {
    await vi.waitFor(async () => expect((await fetch(`http://127.0.0.1:${port}/readyz`)).status).toBe(200), {
      timeout: 10_000,
      interval: 20,
    });
  }
  const url = `http://127.0.0.1:${gateway.port}`;
  return {
    url,
    fetch: checkedFetch(`${url}/openapi.json`),
    grpcTarget: `127.0.0.1:${tickets.ports.grpc}`,
    identity,
    environment: { ...ofTickets, ...ofReporting },
    async stop() {
      await gateway.stop();
      await reporting.stop();
      await tickets.stop();
      identity.remove();
    },
  };
}
