import type { KubernetesObject } from './read-manifests.ts';

/** The load for which the resources of a cluster are summed up. */
export interface ClusterLoad {
  /** The replicas of each API at least: `minReplicas` of the overlay. */
  leastApis: number;
  requestsPerSecond: number;
  /** CPU time of a request, by service. Units: ms. */
  cpuMs: Readonly<Record<string, number>>;
}

/** The sum of the requests of all pods. */
export interface RequestedResources {
  pods: number;
  cores: number;
  gib: number;
}

/**
 * Sums up the requests of the Deployments. An API has as many replicas as its autoscaler makes of the load, as if the
 * API did all work of its service; every other role has the replicas of its Deployment.
 */
export function requestedResources(objects: readonly KubernetesObject[], load: ClusterLoad): RequestedResources {
  const scalers = new Map(
    objects.flatMap(({ kind, spec }) =>
      kind === 'HorizontalPodAutoscaler' ? [[spec.scaleTargetRef.name as string, spec] as const] : [],
    ),
  );
  const sum = { pods: 0, cores: 0, gib: 0 };
  for (const { metadata, spec } of objects.filter(({ kind }) => kind === 'Deployment')) {
    const requests = spec.template.spec.containers[0].resources.requests as { cpu: string; memory: string };
    const cores = parseCores(requests.cpu);
    const scaler = scalers.get(metadata.name);
    const pods: number = scaler ? apiReplicas(scaler, metadata, cores, load) : spec.replicas;
    sum.pods += pods;
    sum.cores += pods * cores;
    sum.gib += pods * parseGib(requests.memory);
  }
  return sum;
}

function apiReplicas(
  { maxReplicas, metrics }: KubernetesObject['spec'],
  { labels = {} }: KubernetesObject['metadata'],
  cores: number,
  { leastApis, requestsPerSecond, cpuMs }: ClusterLoad,
): number {
  const usedCores = (requestsPerSecond * (cpuMs[labels['app.kubernetes.io/name'] ?? ''] ?? 0)) / 1000;
  const needed = Math.ceil(usedCores / (cores * (metrics[0].resource.target.averageUtilization / 100)));
  return Math.min(maxReplicas, Math.max(leastApis, needed));
}

/** Reads cores, for example of `500m`. */
function parseCores(text: string): number {
  return text.endsWith('m') ? Number(text.slice(0, -1)) / 1000 : Number(text);
}

/** Reads GiB, for example of `256Mi`. Errors: another unit. */
function parseGib(text: string): number {
  const [, amount, unit] = /^(\d+)(Mi|Gi)$/.exec(text) ?? [];
  if (unit === undefined) throw new Error(`${text} is no number of Mi or Gi.`);
  return Number(amount) / (unit === 'Mi' ? 1024 : 1);
}
