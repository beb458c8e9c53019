import { testIdentity } from '@ticketing/testkit/test-identity.ts';
import { expect, inject, test } from 'vitest';
import { startReporting } from '../src/service.ts';

test.each([
  ['its event log', { TICKETING_REPORTING_EVENT_LOG_MONGODB_URI: 'mongodb://127.0.0.1:1/?directConnection=true' }],
  ['its store', { TICKETING_REPORTING_MONGODB_URI: 'mongodb://127.0.0.1:1/?directConnection=true' }],
])('stops at once though it has never reached %s', async (_, variables) => {
  const identity = testIdentity();
  const service = await startReporting({
    ...identity.environment('reporting'),
    TICKETING_REPORTING_GRPC_PORT: '0',
    TICKETING_REPORTING_MONGODB_URI: inject('mongodbUri'),
    TICKETING_REPORTING_MONGODB_DATABASE: 'test_stop',
    TICKETING_REPORTING_EVENT_LOG_MONGODB_URI: inject('mongodbUri'),
    TICKETING_REPORTING_EVENT_LOG_MONGODB_DATABASE: 'test_stop_events',
    TICKETING_REPORTING_TICKETS_TARGET: '127.0.0.1:1',
    ...variables,
  });
  const startedAt = performance.now();
  await service.stop();
  expect(performance.now() - startedAt).toBeLessThan(5_000);
  identity.remove();
});
