import type { KubernetesObject } from './read-manifests.ts';

/** The variables of a container, from `envFrom` and `env`, as kubelet composes them. Errors: a required source is missing. */
export function toEnvironment(
  container: KubernetesObject['spec'],
  configMaps: ReadonlyMap<string, Readonly<Record<string, string>>>,
  secrets: ReadonlyMap<string, Readonly<Record<string, string>>>,
): Record<string, string> {
  const variables: Record<string, string> = {};
  for (const { prefix = '', configMapRef, secretRef } of container.envFrom ?? []) {
    const reference = configMapRef ?? secretRef;
    const source = (configMapRef ? configMaps : secrets).get(reference.name);
    if (!source && reference.optional !== true) throw new Error(`There is no ${reference.name}.`);
    for (const [key, value] of Object.entries(source ?? {})) variables[prefix + key] = value;
  }
  for (const { name, value } of container.env ?? []) variables[name] = value;
  return variables;
}
