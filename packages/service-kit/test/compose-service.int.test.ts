import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:net';
import { ExportService } from '@ticketing/contracts/ticketing/reporting/v1/export_service_pb.ts';
import { implement } from '@ticketing/rest/routes/rest-api.ts';
import { aborted, startWakefulLoop } from '@ticketing/runtime/wakeful-loop.ts';
import { serviceNamed } from '@ticketing/system/services.ts';
import { serviceVariables } from '@ticketing/testkit/service-variables.ts';
import { testCaller, testIdentity } from '@ticketing/testkit/test-identity.ts';
import { untilReady } from '@ticketing/testkit/until-ready.ts';
import { afterAll, expect, inject, test } from 'vitest';
import { composeService } from '../src/lifecycle/compose-service.ts';

const identity = testIdentity();
afterAll(() => identity.remove());

const mongodbUri = inject('mongodbUri');
const database = `test_${randomUUID().slice(0, 8)}`;
const environment = serviceVariables(serviceNamed('reporting'), {
  keys: identity.keys,
  logLevel: 'silent',
  ports: { http: 0, grpc: 0, internal: 0 },
  calledPorts: () => ({ http: 1, grpc: 1, internal: 1 }),
  mongodbUri,
  database,
  bus: { kind: 'log', mongodbUri, database: `${database}_events` },
});

/** A handler that never ends. */
function endless({ resolve }: { resolve: () => void }): Promise<never> {
  resolve();
  return new Promise(() => undefined);
}

/** A replacement of the reporting service that records the order in which its parts are closed. */
function recordingService(fails = false) {
  const closed: string[] = [];
  const started = Promise.withResolvers<void>();
  const service = composeService<object, { colour: string }>({
    name: 'reporting',
    readSettings: () => ({ colour: 'red' }),
    async compose(kit) {
      kit.onClose(() => void closed.push('first'));
      kit.onClose(() => void closed.push('second'));
      await kit.database.opened;
      if (fails) throw new Error('a part cannot be opened');
      expect((await kit.settings()).colour).toBe('red');
      expect(() => kit.outbound).toThrow('The reporting service makes no outbound requests.');
      return {
        implementations: [implement(ExportService, {}, { getReportingExport: () => endless(started) })],
        eraseTicket: async () => undefined,
        operations: { rebuild: async () => 0, reconcile: async () => 0 },
        tasks: [
          {
            name: 'endless',
            everyMs: 1,
            // Ends with the service only.
            run: () => aborted(kit.stopping).then(() => void closed.push('task')),
          },
        ],
        loops: [
          {
            role: 'scheduler',
            start() {
              const poll = { busy: 5, idle: 5 };
              const loop = startWakefulLoop({ pollMs: poll, run: async () => 'nothing', onError: () => 5 });
              return { ...loop, stop: () => loop.stop().then(() => void closed.push('loop')) };
            },
          },
        ],
      };
    },
  });
  return { service, closed, started: started.promise };
}

test('a service ends its background work, then closes its parts in the reverse order', async () => {
  const { service, closed } = recordingService();
  await service.setUp(environment);
  const running = await service.start(environment);
  const url = `http://127.0.0.1:${running.ports.http}`;
  await untilReady(url);
  await running.stop();
  expect(closed).toEqual(['task', 'loop', 'second', 'first']);
  await expect(fetch(`${url}/healthz`)).rejects.toThrow('fetch failed');
});

test('a call that has not ended when its service stops learns that the service is unavailable', async () => {
  const { service, started } = recordingService();
  await service.setUp(environment);
  const running = await service.start(environment);
  const url = `http://127.0.0.1:${running.ports.http}`;
  await untilReady(url);
  const token = await identity.internalToken('reporting', testCaller({ permissions: ['exportReporting'] }));
  const responding = fetch(`${url}/ticketing.reporting.v1.ExportService/GetReportingExport`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    body: JSON.stringify({ exportId: randomUUID() }),
  });
  await Promise.race([started, responding]);
  await running.stop();
  const response = await responding;
  expect([response.status, await response.json()]).toMatchObject([503, { code: 'unavailable' }]);
});

test('if a part cannot be opened, those that were opened before it are closed', async () => {
  const { service, closed } = recordingService(true);
  await expect(service.start(environment)).rejects.toThrow('a part cannot be opened');
  expect(closed).toEqual(['second', 'first']);
});

test('if a port is taken, everything that was opened is closed', async () => {
  const other = createServer().listen(0, '127.0.0.1');
  await once(other, 'listening');
  const address = other.address();
  const port = typeof address === 'object' && address ? address.port : 0;
  const { service, closed } = recordingService();
  const taken = { ...environment, TICKETING_REPORTING_GRPC_PORT: String(port) };
  await expect(service.start(taken)).rejects.toThrow('EADDRINUSE');
  expect(closed).toEqual(expect.arrayContaining(['loop', 'second', 'first']));
  other.close();
});

test('the set-up of a store knows whether services may be using it', async () => {
  const name = `${database}_new`;
  const setUps: boolean[] = [];
  const setUpStore = async (_connection: unknown, isNew: boolean) => void setUps.push(isNew);
  const service = composeService({ name: 'reporting', setUpStore, compose: () => ({}) });
  const renamed = { ...environment, TICKETING_REPORTING_MONGODB_DATABASE: name };
  await service.setUp(renamed);
  await service.setUp(renamed);
  expect(setUps).toEqual([true, false]);
  const mongoose = (await import('mongoose')).default;
  const connection = await mongoose.createConnection(mongodbUri, { dbName: name }).asPromise();
  await connection.dropDatabase();
  await connection.close();
});

test('a database of another version is refused in one sentence', async () => {
  const { service } = recordingService();
  const old = { ...environment, TICKETING_REPORTING_MONGODB_DATABASE: `${database}_old` };
  const mongoose = (await import('mongoose')).default;
  const connection = await mongoose.createConnection(mongodbUri, { dbName: `${database}_old` }).asPromise();
  await connection.collection('parkedMessages').insertOne({ key: '1' });
  await expect(service.setUp(old)).rejects.toThrow(
    'The database of the reporting service was set up by another version of this system; configure an empty one.',
  );
  await connection.dropDatabase();
  await connection.close();
});

test('parts that do not fit the entry of the service are refused, and the error names the difference', async () => {
  const unserved = composeService({ name: 'reporting', compose: () => ({ handle: async () => undefined }) });
  await expect(unserved.start(environment)).rejects.toThrow(
    'The reporting service does not fit its entry: it does not serve ticketing.reporting.v1.ExportService.',
  );
});
