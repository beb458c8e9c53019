import { services } from '@ticketing/system/services.ts';
import type { ListedMetric } from '../../tools/observability/metric-list.ts';
import { readExposition } from '../../tools/observability/prometheus-text.ts';
import type { System } from './harness.ts';

/** The metrics that the processes of a system expose, as the list of the documentation describes them, by name. */
export async function exposedMetrics(system: Pick<System, 'findPorts'>): Promise<ListedMetric[]> {
  const found = new Map<string, Omit<ListedMetric, 'services'> & { services: string[] }>();
  for (const { name: service } of services) {
    const response = await fetch(`http://127.0.0.1:${system.findPorts(service).internal}/metrics`);
    for (const metric of readExposition(await response.text()).metrics) {
      const known = found.get(metric.name);
      if (known) known.services.push(service);
      else found.set(metric.name, { ...metric, services: [service] });
    }
  }
  return [...found.values()];
}
