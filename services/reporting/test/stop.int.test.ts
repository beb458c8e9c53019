import { serviceNamed, variableName } from '@ticketing/system/services.ts';
import { withinTime } from '@ticketing/testkit/machine-limits.ts';
import { serviceVariables } from '@ticketing/testkit/service-variables.ts';
import { testIdentity } from '@ticketing/testkit/test-identity.ts';
import { inject, test } from 'vitest';
import { service } from '../src/service.ts';

const unreachable = 'mongodb://127.0.0.1:1/?directConnection=true';

test.each([
  ['its event log', 'EVENT_LOG_MONGODB_URI'],
  ['its store', 'MONGODB_URI'],
])('stops within 5 seconds even if it has never reached %s', async (_, variable) => {
  const identity = testIdentity();
  const mongodbUri = inject('mongodbUri');
  const environment = serviceVariables(serviceNamed('reporting'), {
    keys: identity.keys,
    logLevel: 'silent',
    ports: { http: 0, grpc: 0, internal: 0 },
    calledPorts: () => ({ http: 1, grpc: 1, internal: 1 }),
    mongodbUri,
    database: 'test_stop',
    bus: { kind: 'log', mongodbUri, database: 'test_stop_events' },
  });
  const start = () => service.start({ ...environment, [variableName('reporting', variable)]: unreachable });
  await withinTime(5_000, (running) => running.stop(), start);
  identity.remove();
});
