import type { SandboxReason } from '@ticketing/sandbox/sandbox-error.ts';
import { Counter, type Registry } from 'prom-client';

/** All of them, because a counter that appears with its first increment seems not to have increased. */
const reasons: readonly SandboxReason[] = ['time', 'memory', 'output', 'failed', 'crashed'];

/** Registers the metric of templates that are stopped. Source: docs/reference/guarantees.md, What is measured. */
export function measureRenders(registry: Registry): (reason: SandboxReason) => void {
  const stopped = new Counter({
    name: 'template_renders_stopped_total',
    help: 'Templates whose check or rendering was stopped, by the limit that they exceeded: time, memory, output; or failed, crashed.',
    labelNames: ['reason'],
    registers: [registry],
  });
  for (const reason of reasons) stopped.inc({ reason }, 0);
  return (reason) => stopped.inc({ reason });
}
