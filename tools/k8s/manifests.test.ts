import { existsSync, globSync, readFileSync } from 'node:fs';
import { basename } from 'node:path';
import { readServiceConfig } from '@ticketing/service-kit/config/service-config.ts';
import { stopTimeoutMs } from '@ticketing/service-kit/lifecycle/run-service.ts';
import { parseRequest } from '@ticketing/service-kit/operations/operation-request.ts';
import { consumedTopics, serviceNamed, services } from '@ticketing/system/services.ts';
import { expect, it } from 'vitest';
import { readStores } from './database-users.ts';
import { toEnvironment } from './environment.ts';
import { manifestFiles } from './manifest-files.ts';
import { findOwnConfig } from './own-config.ts';
import { listNames, parseManifests, readManifests } from './read-manifests.ts';
import { makeSecrets } from './secrets.ts';

const base = 'deploy/k8s/base';
const objects = readManifests(`${base}/!(kustomization|pod|job).yaml`);
const ofKind = (kind: string) => objects.filter((object) => object.kind === kind);
const [kustomization] = readManifests(`${base}/kustomization.yaml`);
const [all] = readManifests(`${base}/pod.yaml`);
const stores = readStores({ MONGODB_URI: 'mongodb://user:secret@store' });
const secrets = new Map(makeSecrets({ stores, issuerKeys: '{}' }).map((one) => [one.metadata.name, one.stringData]));
const roles = services.flatMap((entry) => entry.roles.map((role) => ({ entry, role, name: `${entry.name}-${role}` })));

it.each([...manifestFiles()])(
  '%s follows from the description of the system; npm run generate writes it',
  (file, text) => {
    expect(readFileSync(file, 'utf8')).toBe(text);
  },
);

it('every file of the base is part of it', () => {
  const { resources, patches } = kustomization as unknown as { resources: string[]; patches: { path: string }[] };
  const files = globSync(`${base}/*.yaml`).map((file) => basename(file));
  const used = ['kustomization.yaml', ...resources, ...patches.map(({ path }) => path)];
  expect(used.toSorted()).toEqual(files.toSorted());
});

it('every pod has a ServiceAccount, so that the component pull-secret reaches its image', () => {
  const accounts = listNames(objects, 'ServiceAccount');
  const ledgers = readManifests('deploy/k8s/components/ledger/ledger-jobs.yaml').flatMap(({ kind, spec }) =>
    kind === 'CronJob' ? [spec.jobTemplate.spec] : [],
  );
  const pods = [...ofKind('Deployment'), ...ofKind('Job')].map(({ spec }) => spec);
  expect(pods.length).toBeGreaterThan(30);
  for (const { template } of [...pods, ...ledgers]) expect(accounts).toContain(template.spec.serviceAccountName);
  const component = readManifests('deploy/k8s/components/pull-secret/kustomization.yaml');
  expect(component).toMatchObject([{ kind: 'Component', patches: [{ target: { kind: 'ServiceAccount' } }] }]);
});

it.each(roles)('$name starts with a complete configuration, for its role and on the ports of its pod', (one) => {
  const { entry, role, name } = one;
  const deployment = ofKind('Deployment').find(({ metadata }) => metadata.name === name);
  const [container] = deployment?.spec.template.spec.containers ?? [];
  const config = readServiceConfig(entry, toEnvironment(container, literals(), secrets), findOwnConfig(entry.name));
  const ports = Object.fromEntries(container.ports.map((port: { name: string }) => [port.name, port]));
  expect(config.roles).toEqual([role]);
  expect(config.httpPort).toBe(ports.http.containerPort);
  expect(config.grpcPort).toBe(ports.grpc?.containerPort ?? 0);
  expect(config.internalPort).toBe(ports.internal.containerPort);
  // docs/operations/upgrade.md: longer than the gateway keeps a connection that it does not use.
  expect(config.drainMs).toBeGreaterThanOrEqual(5000);
  for (const [service, target] of config.targets) expect(target).toBe(`${service}-rpc:${findGrpcPort(service)}`);
});

it('each role has a Deployment and a budget that selects its pods; each API a Service and an autoscaler', () => {
  expect(listNames(objects, 'Deployment')).toEqual(roles.map(({ name }) => name).toSorted());
  expect(listNames(objects, 'PodDisruptionBudget')).toEqual(listNames(objects, 'Deployment'));
  for (const budget of ofKind('PodDisruptionBudget')) {
    const target = ofKind('Deployment').find(({ metadata }) => metadata.name === budget.metadata.name);
    expect(budget.spec.selector).toEqual(target?.spec.selector);
    expect(target?.spec.template.metadata.labels).toMatchObject(target?.spec.selector.matchLabels);
  }
  const apis = services.map(({ name }) => `${name}-api`).toSorted();
  expect(
    ofKind('HorizontalPodAutoscaler')
      .map(({ spec }) => spec.scaleTargetRef.name)
      .toSorted(),
  ).toEqual(apis);
  expect(listNames(objects, 'Service')).toEqual(
    expect.arrayContaining(services.flatMap(({ name, ports }) => (ports.grpc ? [name, `${name}-rpc`] : [name]))),
  );
  expect(listNames(objects, 'ServiceAccount')).toEqual(services.map(({ name }) => name).toSorted());
});

it('only the autoscaler or KEDA sets the replicas of a Deployment, never both', () => {
  const scaled = readManifests('deploy/k8s/components/keda/scaled-objects.yaml');
  const consumers = services.filter((entry) => entry.roles.includes('consumer'));
  expect(scaled.map(({ spec }) => spec.scaleTargetRef.name)).toEqual(consumers.map(({ name }) => `${name}-consumer`));
  for (const [index, entry] of consumers.entries()) {
    const topics = scaled[index]?.spec.triggers.map(({ metadata }: { metadata: { topic: string } }) => metadata.topic);
    expect(topics).toEqual(consumedTopics(entry).map(({ name }) => name));
  }
  const withoutReplicas = ofKind('Deployment').filter(({ spec }) => spec.replicas === undefined);
  expect(withoutReplicas.map(({ metadata }) => metadata.name)).toEqual(
    ofKind('HorizontalPodAutoscaler').map(({ spec }) => spec.scaleTargetRef.name),
  );
});

it('KEDA reads what it needs for the brokers from the Secrets of the services', () => {
  const scaled = readManifests('deploy/k8s/components/keda/scaled-objects.yaml');
  const [authentication] = readManifests('deploy/k8s/components/keda/authentication.yaml');
  const triggers: { authenticationRef: { name: string } }[] = scaled.flatMap(({ spec }) => spec.triggers);
  expect(new Set(triggers.map(({ authenticationRef: { name } }) => name))).toEqual(
    new Set([authentication?.metadata.name]),
  );
  const [component] = readManifests('deploy/k8s/components/keda-tls/kustomization.yaml') as unknown as {
    configMapGenerator: { name: string; literals: string[]; options: object }[];
    patches: { patch: string }[];
  }[];
  const [patch] = parseManifests(component?.patches[0]?.patch ?? '');
  expect([patch?.kind, patch?.metadata.name]).toEqual(['TriggerAuthentication', authentication?.metadata.name]);
  const secretRefs: { name: string; key: string }[] = patch?.spec.secretTargetRef;
  const isVolume = all?.spec.template.spec.volumes.some(
    ({ secret }: { secret?: { secretName: string } }) => secret?.secretName === 'authorities',
  );
  expect(isVolume).toBe(true);
  expect(secretRefs.filter(({ name }) => name !== 'authorities')).toEqual([
    { parameter: 'username', name: 'bus-secrets', key: 'KAFKA_USERNAME' },
    { parameter: 'password', name: 'bus-secrets', key: 'KAFKA_PASSWORD' },
  ]);
  const sources = ofKind('Deployment').flatMap(({ spec }) => spec.template.spec.containers[0].envFrom);
  expect(sources.some(({ secretRef }) => secretRef?.name === 'bus-secrets')).toBe(true);
  const [generated] = component?.configMapGenerator ?? [];
  const keys = generated?.literals.map((literal) => literal.split('=')[0]);
  expect(generated?.options).toEqual({ disableNameSuffixHash: true });
  expect(patch?.spec.configMapTargetRef).toEqual(keys?.map((key) => ({ parameter: key, name: generated?.name, key })));
});

it('pods are probed on the port that has no TLS, and have more time to stop than a process takes at most', () => {
  const { containers, terminationGracePeriodSeconds } = all?.spec.template.spec ?? {};
  const [{ startupProbe, livenessProbe, readinessProbe, lifecycle }] = containers;
  for (const { httpGet } of [startupProbe, livenessProbe])
    expect(httpGet).toEqual({ path: '/healthz', port: 'internal' });
  expect(readinessProbe.httpGet).toEqual({ path: '/readyz', port: 'internal' });
  expect(terminationGracePeriodSeconds).toBeGreaterThan(lifecycle.preStop.sleep.seconds + stopTimeoutMs / 1000);
});

it('the component ledger has a volume of its own for each service, and Jobs that start with a complete configuration', () => {
  const jobs = readManifests('deploy/k8s/components/ledger/ledger-jobs.yaml');
  const withStore = services.filter(({ hasStore }) => hasStore);
  const volumes = withStore.map(({ name }) => `${name}-ledger`).toSorted();
  expect(listNames(jobs, 'PersistentVolumeClaim')).toEqual(volumes);
  expect(listNames(jobs, 'CronJob')).toEqual(
    withStore.flatMap(({ name }) => [`${name}-apply-ledger`, `${name}-ledger`]).toSorted(),
  );
  for (const { metadata, spec } of jobs.filter(({ kind }) => kind === 'CronJob')) {
    const entry = serviceNamed(metadata.labels?.['app.kubernetes.io/name'] ?? '');
    const pod = spec.jobTemplate.spec.template.spec;
    const [container] = pod.containers;
    const claims = pod.volumes.flatMap(
      ({ persistentVolumeClaim }: { persistentVolumeClaim?: { claimName: string } }) =>
        persistentVolumeClaim ? [persistentVolumeClaim.claimName] : [],
    );
    const isApplied = metadata.name === `${entry.name}-apply-ledger`;
    const component = isApplied ? 'apply-ledger' : 'ledger';
    for (const { metadata: made } of [spec.jobTemplate, spec.jobTemplate.spec.template])
      expect(made.labels['app.kubernetes.io/component']).toBe(component);
    const operation = parseRequest(container.args);
    expect(operation).toMatchObject({ name: component, file: '/ledger/ledger.jsonl' });
    expect([spec.suspend === true, claims]).toEqual([isApplied, [`${entry.name}-ledger`]]);
    const environment = toEnvironment(container, literals(), secrets);
    expect(() => readServiceConfig(entry, environment, findOwnConfig(entry.name))).not.toThrow();
  }
});

// asvs: 13.2.2
it('a pod reads no Secret of another service', () => {
  const ofServices = services.flatMap(({ name }) => [`${name}-secrets`, `${name}-signing-key`]);
  const ledgerJobs = readManifests('deploy/k8s/components/ledger/ledger-jobs.yaml').flatMap(
    ({ kind, metadata, spec }) => (kind === 'CronJob' ? [{ metadata, spec: spec.jobTemplate.spec }] : []),
  );
  for (const { metadata, spec } of [...ofKind('Deployment'), ...ofKind('Job'), ...ledgerJobs]) {
    const { containers, volumes = [] } = spec.template.spec;
    const sources = containers.flatMap(({ envFrom }: { envFrom: object[] }) => envFrom);
    const named = JSON.stringify([sources, volumes]);
    const service = metadata.labels?.['app.kubernetes.io/name'];
    const read = ofServices.filter((name) => named.includes(`"${name}"`));
    expect(read, metadata.name).toContain(`${service}-secrets`);
    expect(read.filter((name) => !name.startsWith(`${service}-`))).toEqual([]);
  }
});

// asvs: 13.3.2
it('the secrets that a pod needs are those that the command makes', () => {
  const volumes = [...ofKind('Deployment'), ...ofKind('Job'), all].flatMap(
    (one) => one?.spec.template.spec.volumes ?? [],
  );
  const containers = [...ofKind('Deployment'), ...ofKind('Job')].flatMap((one) => one.spec.template.spec.containers);
  const named = [
    ...volumes.flatMap(({ secret }) => (secret && !secret.optional ? [secret.secretName] : [])),
    ...containers.flatMap(({ envFrom }) =>
      envFrom.flatMap(({ secretRef }: { secretRef?: { name: string; optional?: boolean } }) =>
        secretRef && !secretRef.optional ? [secretRef.name] : [],
      ),
    ),
  ];
  expect([...new Set([...named, 'issuer-keys'])].toSorted()).toEqual([...secrets.keys()].toSorted());
  expect(existsSync(`${base}/secrets.yaml`)).toBe(false);
});

function literals(): Map<string, Record<string, string>> {
  const { configMapGenerator } = kustomization as unknown as {
    configMapGenerator: { name: string; literals: string[] }[];
  };
  const pair = (text: string): [string, string] => [
    text.slice(0, text.indexOf('=')),
    text.slice(text.indexOf('=') + 1),
  ];
  return new Map(configMapGenerator.map(({ name, literals }) => [name, Object.fromEntries(literals.map(pair))]));
}

function findGrpcPort(service: string): number | undefined {
  return services.find(({ name }) => name === service)?.ports.grpc;
}
