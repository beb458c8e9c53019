import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createMetrics } from '@ticketing/service-kit/observability/metrics.ts';
import { services } from '@ticketing/system/services.ts';

/** A metric as the list of the documentation describes it. */
export interface ListedMetric {
  name: string;
  type: string;
  /** The services whose processes expose it. */
  services: readonly string[];
  help: string;
}

/** The page with the list. */
export const metricListFile = 'docs/operations/metrics.md';

const all = services.map(({ name }) => name);
/** The phrases that stand for some services in the list. */
const groups: Readonly<Record<string, readonly string[]>> = {
  all,
  'with a store': services.filter(({ hasStore }) => hasStore).map(({ name }) => name),
  'with an outbox': services.filter(({ publishes }) => publishes.length > 0).map(({ name }) => name),
};

/** The metrics of every process: those that the documentation lists, and those of prom-client about the process itself. */
export async function listedMetrics(): Promise<ListedMetric[]> {
  const ofProcess = (await createMetrics('any').registry.getMetricsAsJSON())
    .filter(({ name }) => /^(process|nodejs)_/.test(name))
    .map(({ name, type, help }) => ({ name, type: String(type), services: all, help }));
  return [...ofProcess, ...metricsOfPage()];
}

function metricsOfPage(): ListedMetric[] {
  const page = readFileSync(join(import.meta.dirname, '..', '..', metricListFile), 'utf8');
  const rows = page.matchAll(/^\| `([a-z0-9_]+)` \| (\w+) \| ([^|]+) \| (.+) \|$/gm);
  return [...rows].map(([, name = '', type = '', where = '', help = '']) => ({
    name,
    type,
    services: groups[where] ?? where.split(', '),
    help,
  }));
}
