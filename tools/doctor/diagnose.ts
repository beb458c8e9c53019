import type { Sample } from '../observability/prometheus-text.ts';
import type { ObservedProcess } from './observe-process.ts';
import { storageFindings } from './storage-findings.ts';

/** Something that is wrong with a system. */
export interface Finding {
  /** What is wrong, in a sentence without a period. */
  what: string;
  /** The name of the page in docs/operations/runbooks that says what it means and what to do. */
  runbook: string;
}

/** A metric that is a problem above a value, and the alert about the same problem has the same limit. */
export interface MetricLimit {
  metric: string;
  above: number;
  runbook: string;
  what(value: number, labels: Readonly<Record<string, string>>): string;
}

const seconds = (value: number) => (value < 120 ? `${Math.round(value)} s` : `${Math.round(value / 60)} minutes`);

/**
 * The limits of metrics. Of several processes that measure the same, the one with the highest value is reported. Metrics of
 * which one look says nothing are left out: a process is always busy while it starts.
 */
export const metricLimits: readonly MetricLimit[] = [
  {
    metric: 'outbox_undeliverable',
    above: 0,
    runbook: 'events-undeliverable',
    what: (value, { outbox }) => `the bus refuses the events of ${value} documents of ${outbox}`,
  },
  {
    metric: 'outbox_oldest_age_seconds',
    above: 60,
    runbook: 'outbox-not-sent',
    what: (value, { outbox }) => `an event of ${outbox} has been waiting to be sent for ${seconds(value)}`,
  },
  {
    metric: 'consumer_lag_seconds',
    above: 60,
    runbook: 'consumer-behind',
    what: (value, { group }) => `${group} has not handled an event for ${seconds(value)}`,
  },
  {
    metric: 'consumer_blocked_keys',
    above: 0,
    runbook: 'keys-blocked',
    what: (value, { group }) => `${group} handles no event of ${value} tickets or tags`,
  },
  {
    metric: 'reconciliation_drift',
    above: 0,
    runbook: 'rows-drift',
    what: (value, { kind }) => `${value} rows of reporting were ${kind} at the last reconciliation`,
  },
  {
    metric: 'erasures_oldest_age_seconds',
    above: 86_400,
    runbook: 'erasure-late',
    what: (value, { owner }) => `${owner} has not erased a ticket that was deleted ${seconds(value)} ago`,
  },
  {
    metric: 'mails_oldest_queued_seconds',
    above: 1_800,
    runbook: 'mails-late',
    what: (value) => `a mail has been waiting to be sent for ${seconds(value)}`,
  },
  {
    metric: 'analyses_oldest_age_seconds',
    above: 600,
    runbook: 'analyses-late',
    what: (value) => `a ticket has been waiting for its analysis for ${seconds(value)}`,
  },
  {
    metric: 'store_clock_offset_seconds',
    above: 2,
    runbook: 'clock-offset',
    what: (value, { service }) => `the clock of a process of ${service} differs from its database by ${seconds(value)}`,
  },
];

/** The clocks of two processes may differ by this much; they are read in whole seconds. Units: seconds. */
const maxClockDifference = 5;

/**
 * What is wrong with a system, by what its processes say. `expected` are the services of which at least one process must be
 * among them.
 */
export function diagnose(processes: readonly ObservedProcess[], expected: readonly string[]): Finding[] {
  const samples = processes.flatMap((process) => process.samples);
  return [
    ...unreachable(processes, expected),
    ...dependencies(processes),
    ...storageFindings(samples),
    ...metricLimits.flatMap((limit) => exceeded(limit, samples)),
    ...clocks(processes),
    ...versions(samples),
  ];
}

function unreachable(processes: readonly ObservedProcess[], expected: readonly string[]): Finding[] {
  const silent = processes.flatMap(({ url, service, problem }) =>
    problem === undefined ? [] : [`${service ? `${service} at ` : ''}${url} ${problem}`],
  );
  const absent = expected.filter((name) => !processes.some(({ service }) => service === name));
  const missing = absent.map((name) => `there is no process of ${name}`);
  return [...silent, ...missing].map((what) => ({ what, runbook: 'service-down' }));
}

function dependencies(processes: readonly ObservedProcess[]): Finding[] {
  const findings = processes.flatMap(({ url, service = `the process at ${url}`, down, samples }) => {
    const notSetUp = samples.some(({ name, value }) => name === 'store_missing_set_up' && value === 1);
    const measured = samples.flatMap(({ name, labels, value }) =>
      name === 'dependency_up' && value === 0 ? [labels.dependency ?? ''] : [],
    );
    return [...new Set([...down, ...measured])].map((dependency) =>
      notSetUp && dependency === 'mongodb'
        ? { what: `the database of ${service} is not set up for this version`, runbook: 'store-missing-set-up' }
        : { what: `${service} does not reach ${dependency}`, runbook: 'dependency-down' },
    );
  });
  return distinct(findings);
}

function exceeded({ metric, above, runbook, what }: MetricLimit, samples: readonly Sample[]): Finding[] {
  const highest = new Map<string, Sample>();
  for (const sample of samples) {
    if (sample.name !== metric || !(Math.abs(sample.value) > above)) continue;
    const key = JSON.stringify(sample.labels);
    if (Math.abs(sample.value) > Math.abs(highest.get(key)?.value ?? 0)) highest.set(key, sample);
  }
  const findings = [...highest.values()].map(({ value, labels }) => ({ what: what(Math.abs(value), labels), runbook }));
  return distinct(findings);
}

function clocks(processes: readonly ObservedProcess[]): Finding[] {
  const known = processes
    .flatMap(({ url, service = `the process at ${url}`, clockAhead }) =>
      clockAhead === undefined ? [] : [{ service, clockAhead }],
    )
    .sort((left, right) => left.clockAhead - right.clockAhead);
  const [slowest, fastest] = [known[0], known.at(-1)];
  if (!slowest || !fastest || fastest.clockAhead - slowest.clockAhead <= maxClockDifference) return [];
  const difference = seconds(fastest.clockAhead - slowest.clockAhead);
  const what = `the clocks of ${slowest.service} and ${fastest.service} differ by ${difference}`;
  return [{ what, runbook: 'clock-offset' }];
}

function versions(samples: readonly Sample[]): Finding[] {
  const byVersion = Map.groupBy(
    samples.filter(({ name }) => name === 'ticketing_build_info'),
    ({ labels }) => labels.version ?? '',
  );
  if (byVersion.size < 2) return [];
  const parts = [...byVersion].map(([version, of]) => {
    const names = [...new Set(of.map(({ labels }) => labels.service))];
    return `${version} (${names.join(', ')})`;
  });
  return [{ what: `processes of several versions are running: ${parts.join(', ')}`, runbook: 'versions-differ' }];
}

function distinct(findings: readonly Finding[]): Finding[] {
  return [...new Map(findings.map((finding) => [finding.what, finding])).values()];
}
