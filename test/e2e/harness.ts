import { randomBytes } from 'node:crypto';
import { readRestRule } from '@ticketing/rest/codec/options.ts';
import type { ServerLimits } from '@ticketing/service-kit/config/server-limits.ts';
import type { RunningService } from '@ticketing/service-kit/lifecycle/compose-service.ts';
import { serviceNamed, services, variableName } from '@ticketing/system/services.ts';
import { type CheckedFetch, checkedFetch } from '@ticketing/testkit/checked-fetch.ts';
import type { DevelopmentCertificates } from '@ticketing/testkit/development-certificates.ts';
import { testBusAddress } from '@ticketing/testkit/service-harness.ts';
import { type ServicePorts, serviceVariables } from '@ticketing/testkit/service-variables.ts';
import { type TestIdentity, testIdentity } from '@ticketing/testkit/test-identity.ts';
import { untilReady } from '@ticketing/testkit/until-ready.ts';
import mongoose from 'mongoose';
import { inject, vi } from 'vitest';
import { loadServices } from '../../tools/dev/load-services.ts';
import { choosePorts, findPorts } from '../../tools/dev/ports.ts';

/** A whole system in this process, on its own databases. */
export interface System {
  /** The URL of the gateway. */
  url: string;
  /** Sends a request, and checks the response against the OpenAPI document of the gateway. */
  fetch: CheckedFetch;
  /** The ports of a service. */
  findPorts(service: string): ServicePorts;
  identity: TestIdentity;
  /** The server of its databases, whose names begin with `name`. */
  mongodbUri: string;
  name: string;
  /** The variables that its services were started with. */
  environment: Record<string, string>;
  /** Starts another process of a service on the same store, beside the first one; returns the URL of its REST API. */
  startReplica(service: string): Promise<string>;
  /** Stops one service, before the others. */
  stopService(service: string): Promise<void>;
  stop(): Promise<void>;
}

/** How a system is started for a test. */
export interface SystemOptions {
  limits?: Partial<ServerLimits>;
  /** Variables of every service, without their prefix. */
  variables?: Readonly<Record<string, string>>;
  /** Further variables of some services, without their prefix, by the name of the service. An empty one is not set. */
  serviceVariables?: Readonly<Record<string, Readonly<Record<string, string>>>>;
  /** Variables of all programs, with their whole names. */
  standardVariables?: Readonly<Record<string, string>>;
  /** Whether new tickets are analysed, which changes each once more, soon after its creation. Off by default. */
  analyses?: boolean;
  /** For TLS between all services. */
  certificates?: DevelopmentCertificates;
}

/** Sets up and starts every service. */
export async function startSystem(options: SystemOptions = {}): Promise<System> {
  const identity = testIdentity();
  const name = `test_${randomBytes(6).toString('hex')}`;
  const mongodbUri = inject('mongodbUri');
  const running = new Map<string, RunningService>();
  const replicas: RunningService[] = [];
  const variablesOf = new Map<string, Record<string, string>>();
  const environment: Record<string, string> = {};
  const ports = await choosePorts(0);
  for (const service of await loadServices()) {
    const variables = serviceVariables(serviceNamed(service.name), {
      keys: identity.keys,
      logLevel: process.env.TICKETING_TEST_LOG_LEVEL ?? 'silent',
      ports: findPorts(ports, service.name),
      calledPorts: (called) => findPorts(ports, called),
      mongodbUri,
      database: `${name}_${service.name}`,
      bus: testBusAddress(name, mongodbUri, true),
      certificates: options.certificates,
    });
    Object.assign(environment, variables);
    const isQuiet = service.name === 'intents' && !options.analyses;
    if (isQuiet) variables[variableName('intents', 'ROLES')] = 'api,consumer,scheduler';
    const further = { ...options.variables, ...options.serviceVariables?.[service.name] };
    for (const [key, value] of Object.entries(further)) variables[variableName(service.name, key)] = value;
    Object.assign(variables, options.standardVariables);
    variablesOf.set(service.name, variables);
    await service.setUp(variables);
    running.set(service.name, await service.start(variables, { limits: options.limits ?? {} }));
  }
  for (const { internal } of ports.values()) await untilReady(`http://127.0.0.1:${internal}`);
  const url = `${options.certificates ? 'https' : 'http'}://127.0.0.1:${findPorts(ports, 'gateway').http}`;
  if (!options.certificates) await untilDescribed(url);
  return {
    url,
    fetch: checkedFetch(`${url}/openapi.json`),
    findPorts: (service) => findPorts(ports, service),
    identity,
    mongodbUri,
    name,
    environment,
    async startReplica(name) {
      const service = (await loadServices()).find((one) => one.name === name);
      if (!service) throw new Error(`There is no service ${name}.`);
      const free = ['HTTP_PORT', 'GRPC_PORT', 'INTERNAL_PORT'].map((key) => [variableName(name, key), '0']);
      const replica = await service.start({ ...variablesOf.get(name), ...Object.fromEntries(free) });
      replicas.push(replica);
      const replicaUrl = `http://127.0.0.1:${replica.ports.http}`;
      await untilReady(replicaUrl);
      return replicaUrl;
    },
    async stopService(service) {
      await running.get(service)?.stop();
      running.delete(service);
    },
    async stop() {
      for (const service of [...running.values(), ...replicas].reverse()) await service.stop();
      await dropDatabases(mongodbUri, name);
      identity.remove();
    },
  };
}

/** Drops the databases of a system: the server that all tests share keeps a file open for each collection and index. */
async function dropDatabases(uri: string, name: string): Promise<void> {
  const connection = await mongoose.createConnection(uri).asPromise();
  const { databases } = await connection.listDatabases();
  const own = databases.filter((database) => database.name.startsWith(`${name}_`));
  for (const database of own) await connection.useDb(database.name).dropDatabase();
  await connection.close();
}

/** Waits until the document of the gateway describes the routes of all services, which it fetches from them. */
async function untilDescribed(url: string): Promise<void> {
  const methods = services.flatMap(({ contracts }) => contracts).flatMap((contract) => contract.methods);
  const routes = methods.flatMap((method) => readRestRule(method)?.path.replaceAll(/\{\w+\}/g, '{}') ?? []);
  const isDescribed = async () => {
    const response = await fetch(`${url}/openapi.json`);
    const { paths } = (await response.json()) as { paths: Record<string, unknown> };
    const described = new Set(Object.keys(paths).map((path) => path.replaceAll(/\{\w+\}/g, '{}')));
    const missing = routes.filter((route) => !described.has(route));
    if (missing.length > 0) throw new Error(`${missing.length} routes are not described, as ${missing[0]}`);
  };
  await vi.waitFor(isDescribed, { timeout: 30_000, interval: 100 });
}
