import { systemVersion } from '@ticketing/system/version.ts';
import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';
import { type MeasureDependency, measureDependencies } from './dependency-metrics.ts';
import { measureEventLoopDelay, neverSampled } from './event-loop-delay.ts';

/** The metrics of one service. */
export interface Metrics {
  registry: Registry;
  /** Measures the state of a dependency whenever the metrics are read. */
  measureDependency: MeasureDependency;
  /** Records a request that has ended. `api` is the API that received it; `proxy` is the gateway. */
  observeRequest(request: { api: 'rest' | 'rpc' | 'proxy'; route: string; status: string; seconds: number }): void;
}

/** Creates the metrics of a service: those of its process (event-loop delay, memory) and of its requests. */
export function createMetrics(service: string): Metrics {
  const registry = new Registry();
  registry.setDefaultLabels({ service });
  collectDefaultMetrics({ register: registry, eventLoopMonitoringPrecision: neverSampled });
  measureEventLoopDelay(registry);
  new Gauge({
    name: 'ticketing_build_info',
    help: 'Always 1; the label says which version of the system the process runs.',
    labelNames: ['version'],
    registers: [registry],
  }).set({ version: systemVersion }, 1);
  const duration = new Histogram({
    name: 'ticketing_request_duration_seconds',
    help: 'Time from a request to the end of its response, by API and route pattern.',
    labelNames: ['api', 'route'],
    buckets: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10, 30],
    registers: [registry],
  });
  const requests = new Counter({
    name: 'ticketing_requests_total',
    help: 'Requests that have ended, by API, route pattern and status.',
    labelNames: ['api', 'route', 'status'],
    registers: [registry],
  });
  return {
    registry,
    measureDependency: measureDependencies(registry),
    observeRequest({ api, route, status, seconds }) {
      duration.observe({ api, route }, seconds);
      requests.inc({ api, route, status });
    },
  };
}
