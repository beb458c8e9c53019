import { expect, test } from 'vitest';
import { readExposition } from './prometheus-text.ts';

test('reads the types, the helps and the values of metrics, also of those without a value', () => {
  const text = `# HELP outbox_pending Events that wait.
# TYPE outbox_pending gauge
outbox_pending{outbox="a \\"b\\"\\n\\\\",service="tickets"} 3

# HELP restarts_total How often.
# TYPE restarts_total counter
# HELP seconds Time.
# TYPE seconds histogram
seconds_bucket{le="+Inf"} 2 1700000000000
seconds_sum 1.5e-3
ratio -Inf
none Nan
`;
  const { metrics, samples } = readExposition(text);
  expect(metrics).toEqual([
    { name: 'outbox_pending', type: 'gauge', help: 'Events that wait.' },
    { name: 'restarts_total', type: 'counter', help: 'How often.' },
    { name: 'seconds', type: 'histogram', help: 'Time.' },
  ]);
  expect(samples).toEqual([
    { name: 'outbox_pending', labels: { outbox: 'a "b"\n\\', service: 'tickets' }, value: 3 },
    { name: 'seconds_bucket', labels: { le: '+Inf' }, value: 2 },
    { name: 'seconds_sum', labels: {}, value: 0.0015 },
    { name: 'ratio', labels: {}, value: Number.NEGATIVE_INFINITY },
    { name: 'none', labels: {}, value: Number.NaN },
  ]);
});

test.each(['<html>', 'a b', 'a{x="y"}'])('refuses what is no metric: %s', (line) => {
  expect(() => readExposition(line)).toThrow('This is no metric');
});
