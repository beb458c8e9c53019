import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { neededCapacity, type PlannedLoad } from '../../bench/capacity.ts';
import { markdownTable, withGeneratedParts } from '../dev/generated-parts.ts';
import { type KubernetesObject, parseManifests, readManifests } from './read-manifests.ts';
import { type RequestedResources, requestedResources } from './requested-resources.ts';

/** The document with the table of the resources of a cluster. */
export const scalingDocument = 'docs/operations/scaling.md';

const root = join(import.meta.dirname, '..', '..');
const loads: readonly PlannedLoad[] = [
  { agents: 500, ticketsPerDay: 20_000, changesPerTicket: 8 },
  { agents: 2_000, ticketsPerDay: 100_000, changesPerTicket: 8 },
];

/**
 * Writes into the document what the pods of the overlay `prod` request, from the manifests and the costs of requests that the
 * document itself has. Errors: those of `withGeneratedParts`; a document without these costs.
 */
export function withCapacityParts(document: string): string {
  const objects = readManifests(join(root, 'deploy/k8s/base/!(kustomization|pod|job).yaml'));
  const point = {
    request: readCosts(document, 'of a request, two'),
    idle: readCosts(document, 'without requests, two'),
  };
  const leastApis = readLeastApis();
  const rows = loads.map((load) => {
    const { requestsPerSecond } = neededCapacity(load, point);
    const cluster = { leastApis, requestsPerSecond, cpuMs: point.request.services };
    const { pods, cores, gib }: RequestedResources = requestedResources(objects, cluster);
    const requests = String(Math.round(requestsPerSecond));
    const roundedUp = (value: number) => (Math.ceil(value * 10) / 10).toFixed(1);
    return [load.agents.toLocaleString('en'), requests, String(pods), roundedUp(cores), roundedUp(gib)];
  });
  const head = ['Agents', 'Requests a second', 'Pods', 'CPU requested (cores)', 'Memory requested (GiB)'];
  return withGeneratedParts(document, { requests: markdownTable(head, rows) });
}

/** Reads a row of the table of measured costs. */
function readCosts(document: string, title: string) {
  const cells = (line: string) => line.split('|').slice(2, -1);
  const [head, row] = [/^\| CPU time in ms \|.*$/m, new RegExp(`^\\| [^|]*${title} \\|.*$`, 'm')].map(
    (pattern) => pattern.exec(document)?.[0],
  );
  if (!head || !row) throw new Error(`The document has no costs "${title}".`);
  const names = cells(head).map((name) => name.trim());
  const { store = 0, ...services } = Object.fromEntries(cells(row).map((cell, at) => [names[at] ?? '', Number(cell)]));
  return { services, store };
}

/** Reads how many replicas of each API the overlay `prod` has at least. */
function readLeastApis(): number {
  const [overlay] = parseManifests(readFileSync(join(root, 'deploy/k8s/overlays/prod/kustomization.yaml'), 'utf8'));
  const { patches } = overlay as KubernetesObject & { patches: { target: { kind: string }; patch: string }[] };
  const patch = patches.find(({ target }) => target.kind === 'HorizontalPodAutoscaler')?.patch ?? '[]';
  const [{ value }] = JSON.parse(patch) as [{ value: number }];
  return value;
}
