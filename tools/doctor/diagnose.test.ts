import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { readRules } from '../observability/observability-files.ts';
import { readExposition } from '../observability/prometheus-text.ts';
import { diagnose, metricLimits } from './diagnose.ts';
import type { ObservedProcess } from './observe-process.ts';

function process(service: string, metrics = '', rest: Partial<ObservedProcess> = {}): ObservedProcess {
  const text = `ticketing_build_info{version="1",service="${service}"} 1\n${metrics}`;
  return { url: 'http://10.0.0.1', service, down: [], samples: readExposition(text).samples, ...rest };
}

const listPages = (...processes: ObservedProcess[]) =>
  diagnose(processes, { services: [] }).map(({ runbook }) => runbook);

test('finds nothing wrong with a healthy system', () => {
  const healthy =
    'outbox_oldest_age_seconds{outbox="tickets"} 1\ndependency_up{dependency="bus"} 1\nmodel_age_seconds NaN';
  const [one, other] = [process('tickets', healthy, { clockAhead: 0.4 }), process('gateway', '', { clockAhead: -0.6 })];
  expect(diagnose([one, other], { services: ['tickets', 'gateway'] })).toEqual([]);
});

test.each(metricLimits)('$metric is a problem above $above only, as its alert says', ({ metric, above, runbook }) => {
  const step = above < 1 ? 0.01 : 1;
  expect(listPages(process('tickets', `${metric}{service="tickets"} ${above}`))).toEqual([]);
  expect(listPages(process('tickets', `${metric}{service="tickets"} ${above + step}`))).toEqual([runbook]);
  const page = `docs/operations/runbooks/${runbook}.md`;
  const alert = readRules().alerts.find(({ annotations }) => annotations?.runbook_url === page);
  expect(alert?.expr).toContain(metric);
  expect(alert?.expr).toMatch(new RegExp(`> ${above}$`));
  expect(existsSync(join(import.meta.dirname, '..', '..', page))).toBe(true);
});

test('a process that does not respond, and a service without one, are reported', () => {
  const silent: ObservedProcess = {
    url: 'http://10.0.0.2',
    service: 'settings',
    problem: 'does not respond: refused',
    down: [],
    samples: [],
  };
  expect(diagnose([process('tickets'), silent], { services: ['tickets', 'settings', 'gateway'] })).toEqual([
    { what: 'settings at http://10.0.0.2 does not respond: refused', runbook: 'service-down' },
    { what: 'there is no process of gateway', runbook: 'service-down' },
  ]);
});

test('of an address for clients, the readiness and the clock are checked, and named by the address', () => {
  const outside = { ...process('', '', { down: ['mongodb'], clockAhead: 9 }), service: undefined, samples: [] };
  const gateway: ObservedProcess = { ...outside, url: 'https://tickets.example.com', isPublic: true };
  expect(
    diagnose([gateway, process('tickets', '', { clockAhead: 0 })], { services: [] }).map(({ what }) => what),
  ).toEqual([
    'the process at https://tickets.example.com does not reach mongodb',
    'the clocks of tickets and the process at https://tickets.example.com differ by 9 s',
  ]);
});

test('a dependency that is down is reported once, a database without set-up as that', () => {
  const bus = process('tickets', 'dependency_up{dependency="bus"} 0\ndependency_up{dependency="mongodb"} 0', {
    down: ['mongodb'],
  });
  expect(diagnose([bus, bus], { services: [] }).map(({ what }) => what)).toEqual([
    'tickets does not reach mongodb',
    'tickets does not reach bus',
  ]);
  expect(listPages(process('tickets', 'store_missing_set_up 1', { down: ['mongodb'] }))).toEqual([
    'store-missing-set-up',
  ]);
});

// asvs: 16.2.2
test('clocks of processes may differ by 5 s, and a clock may be behind its database by 2 s', () => {
  const ahead = (clockAhead: number) => process('tickets', '', { clockAhead });
  expect(listPages(ahead(-2), ahead(3))).toEqual([]);
  expect(listPages(ahead(-2), ahead(3.1))).toEqual(['clock-offset']);
  expect(listPages(process('tickets', 'store_clock_offset_seconds -2'))).toEqual([]);
  expect(listPages(process('tickets', 'store_clock_offset_seconds -2.1'))).toEqual(['clock-offset']);
});

test('several versions are reported, with their services', () => {
  const newer: ObservedProcess = {
    ...process('gateway'),
    samples: readExposition('ticketing_build_info{version="2",service="gateway"} 1').samples,
  };
  expect(diagnose([process('tickets'), newer], { services: [] })).toEqual([
    { what: 'processes of several versions are running: 1 (tickets), 2 (gateway)', runbook: 'versions-differ' },
  ]);
});

test('a dependency that no service reaches is one finding, with its address if that is known', () => {
  const down = ['tickets', 'intents', 'reporting'].map((name) =>
    process(
      name,
      `dependency_up{dependency="mongodb",service="${name}"} 0\noutbox_oldest_age_seconds{service="${name}"} 500`,
      {
        down: ['mongodb'],
      },
    ),
  );
  const gateway = process('gateway', 'dependency_up{dependency="issuer"} 1');
  const addresses = { mongodb: '127.0.0.1:27017' };
  expect(diagnose([...down, gateway], { services: [], addresses })).toEqual([
    {
      what: 'none of the 3 services reaches mongodb at 127.0.0.1:27017: the server is down, or hangs',
      runbook: 'dependency-down',
    },
  ]);
  const reaching = process('settings', 'dependency_up{dependency="mongodb"} 1');
  expect(diagnose([...down, reaching], { services: [] }).map(({ what }) => what)).toEqual(
    ['tickets', 'intents', 'reporting'].map((name) => `${name} does not reach mongodb`),
  );
});

test('a role without a process is one finding, and the work that waits for it is none', () => {
  const lag = 'consumer_lag_seconds{service="reporting",group="reporting"} 300';
  const roles = (age: number) => `ticketing_role_last_seen_seconds{service="reporting",role="consumer"} ${age}\n${lag}`;
  expect(diagnose([process('reporting', roles(75))], { services: [] })).toEqual([
    { what: 'reporting has no consumer: no process with this role was at work for 75 s', runbook: 'role-missing' },
  ]);
  expect(listPages(process('reporting', roles(20)))).toEqual(['consumer-behind']);
});

test('an issuer that a service does not reach is no reason why its work waits', () => {
  const late = process('tickets', 'outbox_oldest_age_seconds{service="tickets",outbox="tags"} 500', {
    down: ['issuer'],
  });
  expect(diagnose([late], { services: [] }).map(({ runbook }) => runbook)).toEqual([
    'dependency-down',
    'outbox-not-sent',
  ]);
});

test('a system of which nothing responds is one finding', () => {
  const silent = (service: string): ObservedProcess => ({
    ...process(service),
    url: `http://${service}`,
    problem: 'does not respond: refused',
    samples: [],
  });
  expect(diagnose([silent('tickets'), silent('intents')], { services: ['tickets', 'intents'] })).toEqual([
    {
      what: 'none of the 2 processes responds, for example tickets at http://tickets does not respond: refused',
      runbook: 'service-down',
    },
  ]);
});
