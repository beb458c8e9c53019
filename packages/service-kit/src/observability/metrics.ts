import { Counter, collectDefaultMetrics, Histogram, Registry } from 'prom-client';

/** The metrics of one service. */
export interface Metrics {
  registry: Registry;
  /** Counts a request that was answered. */
  observeRequest(request: { api: 'rest' | 'rpc' | 'proxy'; route: string; status: string; seconds: number }): void;
}

/** Makes the metrics of a service: those of the process (event-loop delay, memory) and of its requests. */
export function createMetrics(service: string): Metrics {
  const registry = new Registry();
  registry.setDefaultLabels({ service });
  collectDefaultMetrics({ register: registry });
  const duration = new Histogram({
    name: 'ticketing_request_duration_seconds',
    help: 'Time from the request to its answer, by face and route pattern.',
    labelNames: ['face', 'route'],
    buckets: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10, 30],
    registers: [registry],
  });
  const answers = new Counter({
    name: 'ticketing_requests_total',
    help: 'Requests answered, by face, route pattern and status.',
    labelNames: ['face', 'route', 'status'],
    registers: [registry],
  });
  return {
    registry,
    observeRequest({ api, route, status, seconds }) {
      duration.observe({ face: api, route }, seconds);
      answers.inc({ face: api, route, status });
    },
  };
}
