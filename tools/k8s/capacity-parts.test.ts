import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { scalingDocument, withCapacityParts } from './capacity-parts.ts';
import { requestedResources } from './requested-resources.ts';

const document = readFileSync(join(import.meta.dirname, '../..', scalingDocument), 'utf8');

test('the page of scaling says what the manifests request; npm run generate writes it', () => {
  expect(withCapacityParts(document)).toBe(document);
  const cheaper = document.replace(/^(\| of a request, two \|) \S+/m, '$1 0.1');
  expect(cheaper).not.toBe(document);
  expect(withCapacityParts(cheaper)).not.toBe(cheaper);
});

test('an API has the replicas that its autoscaler makes of the load, other roles those of the Deployment', () => {
  const deployment = (name: string, cpu: string, replicas?: number) => ({
    kind: 'Deployment',
    metadata: { name, labels: { 'app.kubernetes.io/name': 'tickets' } },
    spec: { replicas, template: { spec: { containers: [{ resources: { requests: { cpu, memory: '512Mi' } } }] } } },
  });
  const scaler = {
    kind: 'HorizontalPodAutoscaler',
    metadata: { name: 'api' },
    spec: {
      scaleTargetRef: { name: 'api' },
      maxReplicas: 4,
      metrics: [{ resource: { target: { averageUtilization: 50 } } }],
    },
  };
  const objects = [deployment('api', '500m'), deployment('relay', '1', 2), scaler];
  const sumAt = (requestsPerSecond: number) =>
    requestedResources(objects, { leastApis: 1, requestsPerSecond, cpuMs: { tickets: 5 } });
  expect(sumAt(10)).toEqual({ pods: 3, cores: 2.5, gib: 1.5 });
  expect(sumAt(101)).toEqual({ pods: 5, cores: 3.5, gib: 2.5 });
  expect(sumAt(10_000)).toEqual({ pods: 6, cores: 4, gib: 3 });
});
