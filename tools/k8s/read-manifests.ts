import { globSync, readFileSync } from 'node:fs';
import { parseAllDocuments } from 'yaml';

/** A Kubernetes object of any kind. Its readers, mostly tests, check the members that they read. */
export interface KubernetesObject {
  kind: string;
  metadata: { name: string; labels?: Record<string, string> };
  // biome-ignore lint/suspicious/noExplicitAny: these are hundreds of members of somebody else's schema.
  spec?: any;
  data?: Record<string, string>;
}

/** The objects in a text of YAML documents. Errors: a text that is not YAML. */
export function parseManifests(text: string): KubernetesObject[] {
  return parseAllDocuments(text).map((document) => {
    const [error] = document.errors;
    if (error) throw error;
    return document.toJS() as KubernetesObject;
  });
}

/** The objects in the files of a pattern. */
export function readManifests(pattern: string): KubernetesObject[] {
  return globSync(pattern).flatMap((file) => parseManifests(readFileSync(file, 'utf8')));
}

/** The names of the objects of a kind. */
export function listNames(objects: readonly KubernetesObject[], kind: string): string[] {
  return objects
    .filter((object) => object.kind === kind)
    .map(({ metadata }) => metadata.name)
    .toSorted();
}
