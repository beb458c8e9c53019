import { Counter, type Registry } from 'prom-client';
import type { Consumer } from './consumer.ts';

/**
 * Registers the metric of a running consumer. How far its group is behind is measured by `measureGroup`, in a process that
 * runs when no consumer does.
 */
export function measureConsumer(consumer: Consumer, registry: Registry): void {
  new Counter({
    name: 'consumer_restarts_total',
    help: 'How often a consumer was stuck and was restarted.',
    labelNames: ['group'],
    registers: [registry],
    collect() {
      this.reset();
      this.inc({ group: consumer.group }, consumer.state().restarts);
    },
  });
}
