import { expect, test } from 'vitest';
import { metricNamesIn } from './query-names.ts';

test.each<[string, string[]]>([
  ['up{job="ticketing"} == 0', ['up']],
  ['max by (service, outbox) (outbox_pending)', ['outbox_pending']],
  ['sum(rate(a_total{b!="c_total{"}[5m])) / sum by (d) (rate(e_total[5m])) > 0.01', ['a_total', 'e_total']],
  ['max(a) > max(a offset 1h) or vector(0)', ['a']],
  [
    'histogram_quantile(0.95, sum by (le) (rate(s_bucket[5m]))) unless on (x) recorded:by:rule',
    ['s_bucket', 'recorded:by:rule'],
  ],
  ['label_replace(vector(0), "status", "none", "", "") + 1e3', []],
])('finds the metrics of %s', (query, names) => {
  expect(metricNamesIn(query)).toEqual(names);
});
