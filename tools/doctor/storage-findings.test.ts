import { expect, test } from 'vitest';
import { readRules } from '../observability/observability-files.ts';
import { readExposition } from '../observability/prometheus-text.ts';
import { diagnose } from './diagnose.ts';
import { nearlyFull, storageFindings } from './storage-findings.ts';

const mib = 1024 * 1024;

/** The samples of services whose disks have this much free space and keep 100 MiB. */
function toSamples(freeMib: Record<string, number>, reserveMib = 100) {
  const lines = Object.entries(freeMib).map(([service, free]) =>
    [
      `store_free_bytes{service="${service}"} ${free * mib}`,
      `store_reserve_bytes{service="${service}"} ${reserveMib * mib}`,
    ].join('\n'),
  );
  return readExposition(lines.join('\n')).samples;
}

const runbook = 'store-full';

test('a full disk and a nearly full one are found once each, with all services on them', () => {
  const samples = toSamples({ tickets: 99, settings: 98, intents: 299, templates: 100, gateway: 300 });
  expect(storageFindings(samples)).toEqual([
    {
      what: 'the disk of the database of settings, tickets is full: writes are refused below 100 MiB of free space, and 98 MiB are free',
      runbook,
    },
    {
      what: 'the disk of the database of intents, templates is nearly full: writes will be refused below 100 MiB of free space, and 100 MiB are free',
      runbook,
    },
  ]);
  const process = { url: 'http://10.0.0.1', service: 'tickets', down: [], samples: toSamples({ tickets: 1 }) };
  expect(diagnose([process], { services: [] }).map((finding) => finding.runbook)).toEqual([runbook]);
});

test('on a full disk no role is noted, so that a missing role of that service is no finding', () => {
  const roles = ['tickets', 'settings'].flatMap((service) =>
    ['consumer', 'relay'].map((role) => `ticketing_role_last_seen_seconds{service="${service}",role="${role}"} 600`),
  );
  const samples = [
    ...toSamples({ tickets: 1, settings: 500 }),
    ...readExposition(`${roles.join('\n')}\nconsumer_lag_seconds{service="tickets",group="tickets"} 600`).samples,
  ];
  const process = { url: 'http://10.0.0.1', service: 'tickets', down: [], samples };
  expect(diagnose([process], { services: [] }).map(({ what }) => what.split(':')[0])).toEqual([
    'the disk of the database of tickets is full',
    'settings has no consumer',
    'settings has no relay',
  ]);
});

test('a roomy disk, one that is not known, and one without a reserve are no findings', () => {
  expect(storageFindings(toSamples({ tickets: 300 }))).toEqual([]);
  expect(storageFindings(toSamples({ tickets: Number.NaN }, Number.NaN))).toEqual([]);
  expect(storageFindings(toSamples({ tickets: 0 }, 0))).toEqual([]);
  expect(storageFindings(readExposition('outbox_pending{service="tickets"} 1').samples)).toEqual([]);
});

test('the alerts have the same limits', () => {
  const limits = readRules().alerts.flatMap(({ annotations, expr }) =>
    annotations?.runbook_url === `docs/operations/runbooks/${runbook}.md` ? [expr] : [],
  );
  const ratio = 'min by (service) (store_free_bytes / store_reserve_bytes)';
  expect(limits).toEqual([`${ratio} < 1`, `${ratio} < ${nearlyFull}`]);
});
