import type { Role } from '@ticketing/system/services.ts';
import type { Sample } from '../observability/prometheus-text.ts';
import type { ObservedProcess } from './observe-process.ts';
import { isFull, storageFindings } from './storage-findings.ts';

/** Something that is wrong with a system. */
export interface Finding {
  /** The problem, in a sentence without a period. */
  what: string;
  /** The name of the page in docs/operations/runbooks that says what it means and what to do. */
  runbook: string;
}

/** A limit above which a metric is a problem; the alert about the same problem has the same limit. */
export interface MetricLimit {
  metric: string;
  above: number;
  runbook: string;
  /** The role that does this work: if it is missing, or the store or the bus is down, the work waits for that reason. */
  worker?: Role;
  what(value: number, labels: Readonly<Record<string, string>>): string;
}

const seconds = (value: number) => (value < 120 ? `${Math.round(value)} s` : `${Math.round(value / 60)} minutes`);

const roleLimit: MetricLimit = {
  metric: 'ticketing_role_last_seen_seconds',
  above: 60,
  runbook: 'role-missing',
  what: (value, { service, role }) =>
    `${service} has no ${role}: no process with this role was at work for ${seconds(value)}`,
};

/**
 * The limits of metrics. Of several processes that measure the same, the one with the highest value is reported.
 * Metrics of which one reading says nothing are left out: a process is always busy while it starts.
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
    worker: 'relay',
    what: (value, { outbox }) => `an event of ${outbox} has been waiting to be sent for ${seconds(value)}`,
  },
  {
    metric: 'consumer_lag_seconds',
    above: 60,
    runbook: 'consumer-behind',
    worker: 'consumer',
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
    worker: 'mailer',
    what: (value) => `a mail has been waiting to be sent for ${seconds(value)}`,
  },
  {
    metric: 'analyses_oldest_age_seconds',
    above: 600,
    runbook: 'analyses-late',
    worker: 'analyser',
    what: (value) => `a ticket has been waiting for its analysis for ${seconds(value)}`,
  },
  {
    metric: 'webhook_endpoints_failing',
    above: 0,
    runbook: 'webhook-endpoint-failing',
    what: (value) => `no delivery to ${value} webhook endpoints has succeeded for five minutes or longer`,
  },
  roleLimit,
  {
    metric: 'store_clock_offset_seconds',
    above: 2,
    runbook: 'clock-offset',
    what: (value, { service }) => `the clock of a process of ${service} differs from its database by ${seconds(value)}`,
  },
];

/** The clocks of two processes may differ by this much; they are read in whole seconds. Units: seconds. */
const maxClockDifference = 5;

/** The facts for a diagnosis that the processes do not report. */
export interface Expectation {
  /** The services of which at least one process must be among them. */
  services: readonly string[];
  /** The addresses of dependencies that all services share. */
  addresses?: Readonly<Record<string, string | undefined>> | undefined;
}

/** Lists what is wrong with a system, by what its processes say. A finding that follows from another one is left out. */
export function diagnose(processes: readonly ObservedProcess[], { services, addresses = {} }: Expectation): Finding[] {
  const samples = processes.flatMap((process) => process.samples);
  const failures = listFailures(processes);
  const isFullFor = ({ labels }: Sample) => isFull(samples, labels.service);
  const waitsForReason = (sample: Sample, worker: Role | undefined) =>
    worker !== undefined &&
    (failures.some(({ service, dependency }) => service === sample.labels.service && dependency !== 'issuer') ||
      isFullFor(sample) ||
      samples.some((one) => isMissing(one, sample.labels.service, worker)));
  // On a full disk no process can note its roles.
  const follows = (sample: Sample, { metric, worker }: MetricLimit) =>
    metric === roleLimit.metric ? isFullFor(sample) : waitsForReason(sample, worker);
  return [
    ...unreachable(processes, services),
    ...dependencies(failures, processes, addresses),
    ...storageFindings(samples),
    ...metricLimits.flatMap((limit) =>
      exceeded(
        limit,
        samples.filter((sample) => !follows(sample, limit)),
      ),
    ),
    ...clocks(processes),
    ...versions(samples),
  ];
}

function isMissing({ name, labels, value }: Sample, service: string | undefined, role: Role): boolean {
  return name === roleLimit.metric && labels.service === service && labels.role === role && value > roleLimit.above;
}

function unreachable(processes: readonly ObservedProcess[], expected: readonly string[]): Finding[] {
  const silent = processes.flatMap(({ url, service, problem }) =>
    problem === undefined ? [] : [`${service ? `${service} at ` : ''}${url} ${problem}`],
  );
  const absent = expected.filter((name) => !processes.some(({ service }) => service === name));
  const missing = absent.map((name) => `there is no process of ${name}`);
  const isNone = silent.length > 1 && silent.length === processes.length;
  const found = isNone ? [`none of the ${silent.length} processes responds, for example ${silent[0]}`] : silent;
  return [...found, ...missing].map((what) => ({ what, runbook: 'service-down' }));
}

/** A dependency that is down for a service. */
interface Failure {
  service: string;
  dependency: string;
  isNotSetUp: boolean;
}

function listFailures(processes: readonly ObservedProcess[]): Failure[] {
  return processes.flatMap(({ url, service = `the process at ${url}`, down, samples }) => {
    const hasNoSetUp = samples.some(({ name, value }) => name === 'store_missing_set_up' && value === 1);
    const measured = samples.flatMap(({ name, labels, value }) =>
      name === 'dependency_up' && value === 0 ? [labels.dependency ?? ''] : [],
    );
    return [...new Set([...down, ...measured])].map((dependency) => ({
      service,
      dependency,
      isNotSetUp: hasNoSetUp && dependency === 'mongodb',
    }));
  });
}

/** One finding for each dependency that no service reaches, otherwise one for each service. */
function dependencies(
  failures: readonly Failure[],
  processes: readonly ObservedProcess[],
  addresses: Expectation['addresses'] = {},
): Finding[] {
  const unreached = failures.filter(({ isNotSetUp }) => !isNotSetUp);
  const findings = [...Map.groupBy(unreached, ({ dependency }) => dependency)].flatMap(([dependency, those]) => {
    const down = new Set(those.map(({ service }) => service));
    const users = processes.filter(({ samples }) =>
      samples.some(({ name, labels }) => name === 'dependency_up' && labels.dependency === dependency),
    );
    const isDownItself = down.size > 1 && users.every(({ service }) => service !== undefined && down.has(service));
    if (!isDownItself) return [...down].map((service) => `${service} does not reach ${dependency}`);
    const address = addresses[dependency] === undefined ? '' : ` at ${addresses[dependency]}`;
    return [`none of the ${down.size} services reaches ${dependency}${address}: the server is down, or hangs`];
  });
  const notSetUp = failures.filter(({ isNotSetUp }) => isNotSetUp).map(({ service }) => service);
  return distinct([
    ...findings.map((what) => ({ what, runbook: 'dependency-down' })),
    ...notSetUp.map((service) => ({
      what: `the database of ${service} is not set up for this version`,
      runbook: 'store-missing-set-up',
    })),
  ]);
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
