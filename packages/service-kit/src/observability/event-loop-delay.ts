import { createHistogram } from 'node:perf_hooks';
import { Gauge, type Registry } from 'prom-client';

/** Each sample wakes the process, also an idle one. */
const sampleMs = 100;

/** The precision of prom-client's own samples, which are not read: the timer never fires. */
export const neverSampled = 2 ** 31 - 1;

/**
 * Registers how late a timer of the process fires, under names of prom-client and in place of its metrics: those take a
 * sample every 10 ms, which costs an idle process more than everything else that it does.
 */
export function measureEventLoopDelay(registry: Registry): void {
  const replaced = registry.getMetricsAsArray().filter(({ name }) => name.startsWith('nodejs_eventloop_lag_'));
  for (const { name } of replaced) registry.removeSingleMetric(name);
  const lateMicroseconds = createHistogram();
  let last = performance.now();
  setInterval(() => {
    const now = performance.now();
    // A histogram begins at 1.
    lateMicroseconds.record(Math.max(1, Math.round((now - last - sampleMs) * 1000)));
    last = now;
  }, sampleMs).unref();
  const registers = [registry];
  new Gauge({
    name: 'nodejs_eventloop_lag_p99_seconds',
    help: 'How late a timer fires: 99 % of the samples since the metrics were last read are less.',
    registers,
    collect() {
      this.set(lateMicroseconds.percentile(99) / 1e6);
      max.set(lateMicroseconds.max / 1e6);
      lateMicroseconds.reset();
    },
  });
  const max = new Gauge({
    name: 'nodejs_eventloop_lag_max_seconds',
    help: 'How late a timer fires: the latest since the metrics were last read.',
    registers,
  });
}
