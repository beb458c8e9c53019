/** A Kubernetes object. */
export interface Manifest {
  apiVersion: string;
  kind: string;
  metadata: { name: string; labels?: PodLabels | typeof partOfSystem };
  [member: string]: unknown;
}

/** The label of everything in this system. */
export const partOfSystem = { 'app.kubernetes.io/part-of': 'ticketing' } as const;

/** The labels by which the objects of a service, or of one of its roles, find their pods. */
export interface PodLabels {
  'app.kubernetes.io/name': string;
  'app.kubernetes.io/component'?: string;
}

/** The labels of the pods of a service. */
export function podsOfService(service: string): PodLabels {
  return { 'app.kubernetes.io/name': service };
}

/** Selects the pods that run a service, or the whole system: all but those of set-up, which end when it is done. */
export function runningPods(labels: PodLabels | typeof partOfSystem): object {
  const key: keyof PodLabels = 'app.kubernetes.io/component';
  return { matchLabels: labels, matchExpressions: [{ key, operator: 'NotIn', values: [setUp] }] };
}

/** The component of the pods that set a service up. */
export const setUp = 'set-up';

/** The labels of the pods of one role of a service; those of its set-up have the component `set-up`. */
export function podsOfRole(service: string, role: string): PodLabels {
  return { 'app.kubernetes.io/name': service, 'app.kubernetes.io/component': role };
}
