import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import { parse } from 'yaml';
import { listedMetrics } from './metric-list.ts';
import { readPanelQueries, readRules } from './observability-files.ts';
import { metricNamesIn, metricOfSeries } from './query-names.ts';

const root = join(import.meta.dirname, '..', '..');
const runbookFolder = 'docs/operations/runbooks';
const { alerts, records } = readRules();
const panelQueries = readPanelQueries();
const listed = new Map((await listedMetrics()).map((metric) => [metric.name, metric.type]));
const pages = [
  'metrics.md',
  'observability.md',
  ...readdirSync(join(root, runbookFolder)).map((page) => `runbooks/${page}`),
];

/** Whether a series exists: a metric of the list, a recorded one, or the one that Prometheus makes itself. */
function isKnown(series: string): boolean {
  if (series === 'up' || records.some(({ record }) => record === series)) return true;
  return listed.has(series) ? listed.get(series) !== 'histogram' : listed.get(metricOfSeries(series)) === 'histogram';
}

const unknownIn = (queries: readonly { expr: string }[]) =>
  queries.flatMap(({ expr }) => metricNamesIn(expr)).filter((series) => !isKnown(series));

// guarantee: S2
test.each(alerts)('the alert $alert says what is wrong, how bad it is, and what to do', (alert) => {
  const { labels = {}, annotations = {} } = alert;
  expect(alert.alert).toMatch(/^Ticketing[A-Z]\w+$/);
  expect(alert.for).toMatch(/^\d+[mh]$/);
  expect(['critical', 'warning']).toContain(labels.severity);
  expect(annotations.summary).toMatch(/^.{10,}\.$/);
  const page = annotations.runbook_url ?? '';
  expect(dirname(page)).toBe(runbookFolder);
  const runbook = readFileSync(join(root, page), 'utf8');
  expect(runbook).toContain(`\`${alert.alert}\``);
  expect(runbook.match(/^## .*/gm)).toEqual(['## What it means', '## How to look', '## What to do']);
});

test('each runbook belongs to an alert, and no two alerts have the same name', () => {
  const named = new Set(alerts.map(({ annotations }) => annotations?.runbook_url));
  const unnamed = readdirSync(join(root, runbookFolder)).filter((page) => !named.has(`${runbookFolder}/${page}`));
  expect(unnamed).toEqual([]);
  expect(new Set(alerts.map(({ alert }) => alert)).size).toBe(alerts.length);
});

test('in Kubernetes, Prometheus gives pods the job and the labels that the rules and dashboards read', () => {
  const folder = join(root, 'deploy/k8s/components/monitoring');
  const { spec } = parse(readFileSync(join(folder, 'pod-monitor.yaml'), 'utf8'));
  const [endpoint] = spec.podMetricsEndpoints;
  expect([spec.jobLabel, spec.selector.matchLabels[spec.jobLabel]]).toEqual(['app.kubernetes.io/part-of', 'ticketing']);
  expect(endpoint).toMatchObject({
    honorLabels: true,
    relabelings: [
      { sourceLabels: ['__meta_kubernetes_pod_label_app_kubernetes_io_name'], targetLabel: 'service' },
      { sourceLabels: ['__meta_kubernetes_pod_label_app_kubernetes_io_component'], targetLabel: 'role' },
    ],
  });
  const jobs = [...alerts, ...records, ...panelQueries].flatMap(({ expr }) => [...expr.matchAll(/job="(\w+)"/g)]);
  expect(new Set(jobs.map(([, job]) => job))).toEqual(new Set(['ticketing']));
});

// guarantee: S2
test('rules and dashboards read only metrics that the list describes', () => {
  expect(alerts.length).toBeGreaterThan(20);
  expect(panelQueries.length).toBeGreaterThan(35);
  expect(unknownIn([...alerts, ...records, ...panelQueries])).toEqual([]);
  expect(unknownIn([{ expr: 'rate(outbox_sent_total[5m])' }, { expr: 'outbox_pending_sum' }])).toHaveLength(2);
});

test.each(pages)('the commands, metrics and links of docs/operations/%s exist', (page) => {
  const text = readFileSync(join(root, 'docs/operations', page), 'utf8');
  const scripts = Object.keys(JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')).scripts);
  const commands = [...text.matchAll(/npm run ([\w:]+)/g)].map(([, name = '']) => name);
  expect(commands.filter((name) => !scripts.includes(name))).toEqual([]);
  const metrics = [
    ...text.matchAll(/`((?:[a-z0-9]+_)+(?:seconds|total|pending|up|offset|lag|keys|info|bytes))\b[^`]*`/g),
  ];
  expect(metrics.map(([, name = '']) => name).filter((name) => !isKnown(name) && !listed.has(name))).toEqual([]);
  const links = [...text.matchAll(/\]\((?!https?:)([^)#]+)[^)]*\)/g)].map(([, link = '']) => link);
  expect(links.filter((link) => !existsSync(join(root, 'docs/operations', dirname(page), link)))).toEqual([]);
});
