import { randomBytes } from 'node:crypto';
import type { DescService } from '@bufbuild/protobuf';
import { type Client, createClient } from '@connectrpc/connect';
import { createGrpcTransport } from '@connectrpc/connect-node';
import type { Topic } from '@ticketing/contracts/topics.ts';
import type { Bus } from '@ticketing/events/bus/bus.ts';
import { openBus } from '@ticketing/events/bus/bus-config.ts';
import { serviceCallers } from '@ticketing/rest/codec/options.ts';
import { createLogger } from '@ticketing/runtime/logger.ts';
import { type Caller, serviceCaller } from '@ticketing/service-kit/identity/caller.ts';
import type { RunningService, Service } from '@ticketing/service-kit/lifecycle/compose-service.ts';
import type { KitOverrides } from '@ticketing/service-kit/lifecycle/kit.ts';
import { type Database, openDatabase } from '@ticketing/store/connection/database.ts';
import { serviceNamed, variableName } from '@ticketing/system/services.ts';
import mongoose from 'mongoose';
import { inject } from 'vitest';
import { type CheckedFetch, checkedFetch } from './checked-fetch.ts';
import { sendRequest, type TestRequest, type TestResponse } from './send-request.ts';
import { type BusAddress, type ServicePorts, serviceVariables } from './service-variables.ts';
import { sharedConfig } from './shared-config.ts';
import { type TestIdentity, testCaller, testIdentity } from './test-identity.ts';
import { untilReady } from './until-ready.ts';

/** A running service for one test file, with its own database. */
export interface ServiceHarness {
  running: RunningService;
  identity: TestIdentity;
  url: string;
  environment: Record<string, string>;
  /** The database of the service, which tests may read and write. */
  database: mongoose.mongo.Db;
  /** Checks every response against the OpenAPI document of the service. */
  fetch: CheckedFetch;
  /** Sends a request as the gateway does for a verified caller, by default an ordinary user. */
  request(method: string, path: string, request?: HarnessRequest): Promise<TestResponse>;
  /** A gRPC client of the service: for a caller, or for another service. */
  openClient<Contract extends DescService>(contract: Contract, options?: HarnessClient): Promise<Client<Contract>>;
  /** Opens the database as another process would. The test must close it before it stops the harness. */
  openDatabase(): Promise<Database>;
  /** Opens the bus as another process would. The test must close it before it stops the harness. */
  openBus(): Promise<Bus>;
  /** Starts another instance of the service in this process, and waits until it is ready. */
  startInstance(variables?: Record<string, string>): Promise<RunningService>;
  stop(): Promise<void>;
}

/** The caller, body and headers of a test's request. */
export interface HarnessRequest extends TestRequest {
  caller?: Partial<Caller>;
  /** The URL of another instance than the first. */
  url?: string;
}

/** The caller of a client of the harness, and the port of another instance than the first. */
export interface HarnessClient {
  /** The service that calls on its own behalf; by default the first that may call a method of the contract for services. */
  service?: string;
  caller?: Partial<Caller>;
  grpcPort?: number;
}

/** How a service is started for a test. */
export interface HarnessOptions<Settings> extends KitOverrides<Settings> {
  /** Variables that add to or replace the usual ones, without the prefix `TICKETING_<SERVICE>_`. */
  variables?: Record<string, string>;
  /** Where the services that it calls listen. */
  calledPorts?: Partial<ServicePorts>;
  /** Whether the bus is Kafka if there are brokers. Off by default, because creating topics takes a while. */
  usesBus?: boolean;
  /** Topics that the test creates and publishes to in place of another service. */
  publishes?: readonly Topic[];
}

const freePorts: ServicePorts = { http: 0, grpc: 0, internal: 0 };

/** Sets a service up and starts it. The test must stop the harness. */
export async function startServiceHarness<Settings>(
  service: Service<Settings>,
  options: HarnessOptions<Settings> = {},
): Promise<ServiceHarness> {
  const entry = serviceNamed(service.name);
  const identity = testIdentity();
  const mongodbUri = inject('mongodbUri');
  const name = `test_${randomBytes(6).toString('hex')}`;
  const ownVariables = Object.entries(options.variables ?? {}).map(([key, value]) => [
    variableName(entry.name, key),
    value,
  ]);
  const environment = {
    ...serviceVariables(entry, {
      keys: identity.keys,
      logLevel: process.env.TICKETING_TEST_LOG_LEVEL ?? 'silent',
      ports: freePorts,
      calledPorts: () => ({ ...freePorts, ...options.calledPorts }),
      mongodbUri,
      database: name,
      bus: testBusAddress(name, mongodbUri, options.usesBus ?? false),
    }),
    ...Object.fromEntries(ownVariables),
  };
  await service.setUp(environment);
  // A test sends at once what many people send.
  const limits = { handlersOfPerson: 1000, ...options.limits };
  const startInstance = async (variables: Record<string, string> = {}) => {
    const running = await service.start({ ...environment, ...variables }, { ...options, limits });
    await untilReady(`http://127.0.0.1:${running.ports.http}`);
    return running;
  };
  const openTestBus = async () => {
    const { bus } = sharedConfig(entry, environment);
    if (!bus) throw new Error(`The ${entry.name} service has no bus.`);
    return openBus(bus, 'test', createLogger('test', 'silent'));
  };
  if (options.publishes) {
    const bus = await openTestBus();
    await bus.setUp(options.publishes);
    await bus.close();
  }
  const running = await startInstance();
  const client = await mongoose.createConnection(mongodbUri, { dbName: name }).asPromise();
  const database = client.getClient().db(name);
  const url = `http://127.0.0.1:${running.ports.http}`;
  const fetch = checkedFetch(`${url}/openapi.json`);
  return {
    running,
    identity,
    url,
    environment,
    database,
    fetch,
    startInstance,
    async openDatabase() {
      const opened = openDatabase(mongodbUri, name, () => undefined);
      await opened.opened;
      return opened;
    },
    openBus: openTestBus,
    async request(method, path, { caller = {}, url: base = url, headers = {}, ...request } = {}) {
      const token = await identity.internalToken(entry.name, testCaller(caller));
      return sendRequest(fetch, base, method, path, {
        ...request,
        headers: { authorization: `Bearer ${token}`, ...headers },
      });
    },
    async openClient(contract, { service: calling, caller, grpcPort = running.ports.grpc } = {}) {
      const [first = 'gateway'] = contract.methods.flatMap(serviceCallers);
      const token = caller
        ? await identity.internalToken(entry.name, testCaller(caller))
        : await identity.internalToken(entry.name, serviceCaller(calling ?? first), calling ?? first);
      const transport = createGrpcTransport({
        baseUrl: `http://127.0.0.1:${grpcPort}`,
        interceptors: [
          (next) => (call) => {
            call.header.set('authorization', `Bearer ${token}`);
            return next(call);
          },
        ],
      });
      return createClient(contract, transport);
    },
    async stop() {
      await running.stop();
      await database.dropDatabase();
      await client.getClient().db(`${name}_events`).dropDatabase();
      await client.close();
      identity.remove();
    },
  };
}

/** The address of a bus for one test: on Kafka if it is used and there are brokers, otherwise in the database server. */
export function testBusAddress(name: string, mongodbUri: string, usesBus: boolean): BusAddress {
  const brokers = usesBus ? inject('kafkaBrokers') : [];
  if (brokers.length === 0) return { kind: 'log', mongodbUri, database: `${name}_events` };
  return { kind: 'kafka', brokers: brokers.join(), prefix: `${name}.` };
}
