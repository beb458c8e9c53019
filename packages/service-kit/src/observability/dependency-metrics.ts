import { Gauge, type Registry } from 'prom-client';
import { type Check, runCheck } from './health.ts';

/** Adds a dependency to those whose state is measured. */
export type MeasureDependency = (name: string, check: Check) => void;

/** Registers the metric of the dependencies of a process. Each is checked whenever the metrics are read. */
export function measureDependencies(registry: Registry): MeasureDependency {
  const checks = new Map<string, Check>();
  new Gauge({
    name: 'dependency_up',
    help: 'Whether a dependency of the process responds: 1 if it does, 0 if not.',
    labelNames: ['dependency'],
    registers: [registry],
    async collect() {
      await Promise.all(
        [...checks].map(async ([dependency, check]) => {
          this.set({ dependency }, (await runCheck(check)) === 'up' ? 1 : 0);
        }),
      );
    },
  });
  return (name, check) => void checks.set(name, check);
}
