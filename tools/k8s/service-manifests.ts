import type { Role, ServiceEntry } from '@ticketing/system/services.ts';
import { type Manifest, type PodLabels, podsOfRole, setUp } from './manifest.ts';
import { toNetworkPolicies } from './network-policies.ts';
import { findResources } from './role-resources.ts';
import {
  derivedVariables,
  findInternalPort,
  mailReceiverPort,
  needsSetUp,
  sourcesOfVariables,
  toRpcService,
} from './service-variables.ts';

/**
 * The objects of a service, which follow from its entry. The common parts of all pods (security, probes, spreading, the
 * volumes of shared keys) are written by hand in deploy/k8s/base/pod.yaml and job.yaml, which are merged into them.
 */
export function toManifests(entry: ServiceEntry): Manifest[] {
  return [
    { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name: entry.name }, automountServiceAccountToken: false },
    ...listServices(entry),
    ...entry.roles.map((role) => deployment(entry, role)),
    ...entry.roles.map((role) => disruptionBudget(entry.name, role)),
    ...entry.roles.filter((role) => role === 'api').map((role) => autoscaler(entry.name, role)),
    ...(needsSetUp(entry) ? [setUpJob(entry)] : []),
    ...toNetworkPolicies(entry),
  ];
}

/** The name of the Deployment of a role, of its budget and its autoscaler. */
export function toDeploymentName(service: string, role: string): string {
  return `${service}-${role}`;
}

function listServices({ name, ports, roles }: ServiceEntry): Manifest[] {
  const service = (serviceName: string, role: Role, spec: object): Manifest => ({
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { name: serviceName },
    spec: { selector: podsOfRole(name, role), ...spec },
  });
  const port = (portName: string, number: number) => ({ name: portName, port: number, targetPort: portName });
  return [
    service(name, 'api', { ports: [port('http', ports.http)] }),
    ...(ports.grpc === undefined
      ? []
      : [service(toRpcService(name), 'api', { clusterIP: 'None', ports: [port('grpc', ports.grpc)] })]),
    ...(roles.includes('mail-receiver')
      ? [service(`${name}-mail`, 'mail-receiver', { ports: [port('smtp', 25)] })]
      : []),
  ];
}

function deployment(entry: ServiceEntry, role: Role): Manifest {
  const { name, ports } = entry;
  const labels = podsOfRole(name, role);
  const port = (portName: string, containerPort: number) => ({ name: portName, containerPort });
  return {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name: toDeploymentName(name, role), labels },
    spec: {
      // Without `replicas`, which the autoscaler sets: applying the manifests again must not undo what it has set.
      ...(role === 'api' ? {} : { replicas: 2 }),
      selector: { matchLabels: labels },
      template: podTemplate(entry, labels, {
        env: derivedVariables(entry, role),
        ports: [
          port('http', ports.http),
          ...(ports.grpc === undefined ? [] : [port('grpc', ports.grpc)]),
          port('internal', findInternalPort(entry)),
          ...(role === 'mail-receiver' ? [port('smtp', mailReceiverPort)] : []),
        ],
        resources: findResources(name, role),
      }),
    },
  };
}

/** The pod of a service, with the members that only this container has, and further volumes. */
export function podTemplate(
  entry: ServiceEntry,
  labels: PodLabels,
  container: object,
  volumes: readonly object[] = [],
): object {
  const { name } = entry;
  const secret = (volume: string, secretName: string, optional?: true) => ({
    name: volume,
    secret: { secretName, defaultMode: 0o440, ...(optional ? { optional } : {}) },
  });
  return {
    metadata: { labels },
    spec: {
      serviceAccountName: name,
      containers: [{ name: 'service', image: `ticketing/${name}`, envFrom: sourcesOfVariables(entry), ...container }],
      volumes: [secret('signing-key', `${name}-signing-key`), secret('tls', `${name}-tls`, true), ...volumes],
    },
  };
}

function setUpJob(entry: ServiceEntry): Manifest {
  const labels = podsOfRole(entry.name, setUp);
  return {
    apiVersion: 'batch/v1',
    kind: 'Job',
    metadata: { name: toDeploymentName(entry.name, setUp), labels },
    spec: {
      template: podTemplate(entry, labels, {
        // The arguments of the program that the image runs.
        args: ['set-up'],
        env: derivedVariables(entry),
        resources: findResources(entry.name, 'relay'),
      }),
    },
  };
}

function disruptionBudget(service: string, role: Role): Manifest {
  return {
    apiVersion: 'policy/v1',
    kind: 'PodDisruptionBudget',
    metadata: { name: toDeploymentName(service, role) },
    spec: {
      // Not `minAvailable`, with which a role of one replica could never be moved to another node.
      maxUnavailable: 1,
      unhealthyPodEvictionPolicy: 'AlwaysAllow',
      selector: { matchLabels: podsOfRole(service, role) },
    },
  };
}

function autoscaler(service: string, role: Role): Manifest {
  const name = toDeploymentName(service, role);
  return {
    apiVersion: 'autoscaling/v2',
    kind: 'HorizontalPodAutoscaler',
    metadata: { name },
    spec: {
      scaleTargetRef: { apiVersion: 'apps/v1', kind: 'Deployment', name },
      minReplicas: 2,
      maxReplicas: 10,
      metrics: [
        { type: 'Resource', resource: { name: 'cpu', target: { type: 'Utilization', averageUtilization: 70 } } },
      ],
    },
  };
}
