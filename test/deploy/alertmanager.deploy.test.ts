import { type ChildProcess, execFileSync, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort } from '@ticketing/testkit/free-port.ts';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { alertmanagerFile } from '../../tools/observability/observability-files.ts';

/** The name of the program in Debian, and elsewhere. */
const program = ['prometheus-alertmanager', 'alertmanager'].find((name) => !spawnSync(name, ['--version']).error);
if (!program)
  test('a machine that lacks what it needs', ({ skip }) =>
    skip("Debian's package prometheus-alertmanager is not installed"));

type Labels = Record<string, string>;

const services = ['tickets', 'intents', 'templates', 'knowledge', 'reporting', 'settings'];
const named = (alertname: string, labels: Labels = {}): Labels => ({ alertname, severity: 'critical', ...labels });

describe.skipIf(!program)('an Alertmanager with the configuration of the repository', () => {
  const folder = mkdtempSync(join(tmpdir(), 'ticketing-alertmanager-'));
  let child: ChildProcess;
  let url: string;

  beforeAll(async () => {
    const port = await freePort();
    url = `http://127.0.0.1:${port}/api/v2/alerts`;
    const flags = [`--config.file=${alertmanagerFile}`, `--storage.path=${folder}`, '--cluster.listen-address='];
    child = spawn(program ?? '', [...flags, `--web.listen-address=127.0.0.1:${port}`, '--log.level=error'], {
      stdio: ['ignore', 'ignore', 'inherit'],
    });
    const responds = async () => expect((await fetch(url)).status).toBe(200);
    await vi.waitFor(responds, { timeout: 30_000, interval: 200 });
  });
  afterAll(async () => {
    const ended = child && once(child, 'exit');
    if (child?.kill('SIGTERM')) await ended;
    rmSync(folder, { recursive: true, force: true });
  });

  /** Sends alerts that fire, and returns the names of those that are not inhibited. */
  async function sent(alerts: readonly Labels[]): Promise<string[]> {
    const post = (endsAt: Date) =>
      fetch(url, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify(alerts.map((labels) => ({ labels, endsAt }))),
      });
    await post(new Date(Date.now() + 60_000));
    type Shown = { labels: Labels; status: { inhibitedBy: string[] } }[];
    const all = async () => (await (await fetch(url)).json()) as Shown;
    await expect.poll(async () => (await all()).length).toBe(alerts.length);
    const names = (await all()).flatMap(({ labels, status }) =>
      status.inhibitedBy.length === 0 ? [`${labels.alertname} ${labels.service ?? ''}`.trim()] : [],
    );
    await post(new Date(Date.now() - 1_000));
    await expect.poll(async () => (await all()).length).toBe(0);
    return names.sort();
  }

  test('accepts the configuration', () => {
    expect(execFileSync('amtool', ['check-config', alertmanagerFile], { encoding: 'utf8' })).toContain('SUCCESS');
  });

  test('sends one alert when no service reaches the database', async () => {
    const of = (service: string) => named('TicketingDependencyDown', { service, dependency: 'mongodb' });
    const alerts = [
      named('TicketingServerDown', { dependency: 'mongodb' }),
      ...services.map(of),
      named('TicketingConsumerBehind', { service: 'reporting', group: 'reporting' }),
      named('TicketingServerErrors'),
    ];
    expect(await sent(alerts)).toEqual(['TicketingServerDown']);
    expect(await sent(alerts.slice(1, 3))).toEqual([
      'TicketingDependencyDown intents',
      'TicketingDependencyDown tickets',
    ]);
  });

  test('sends the missing role instead of what waits for it, and nothing else is hidden', async () => {
    const behind = (service: string) => named('TicketingConsumerBehind', { service, group: service });
    expect(
      await sent([
        named('TicketingRoleMissing', { service: 'reporting', role: 'consumer' }),
        behind('reporting'),
        named('TicketingReportingStale', { service: 'reporting' }),
        behind('settings'),
        named('TicketingOutboxNotSent', { service: 'tickets', outbox: 'tags' }),
      ]),
    ).toEqual(['TicketingConsumerBehind settings', 'TicketingOutboxNotSent tickets', 'TicketingRoleMissing reporting']);
  });

  test('sends a full disk, and a stopped process, instead of what follows from them', async () => {
    const missing = (service: string) => named('TicketingRoleMissing', { service, role: 'consumer' });
    const full = [
      named('TicketingStoreFull', { service: 'tickets' }),
      named('TicketingStoreNearlyFull', { service: 'tickets' }),
      named('TicketingOutboxNotSent', { service: 'tickets', outbox: 'tags' }),
      named('TicketingServerErrors'),
    ];
    expect(await sent([...full, missing('tickets'), missing('settings')])).toEqual([
      'TicketingRoleMissing settings',
      'TicketingStoreFull tickets',
    ]);
  });

  test('sends a stopped process instead of its missing role, and no other role is hidden', async () => {
    const down = (labels: Labels) => named('TicketingServiceDown', { service: 'reporting', ...labels });
    const missing = (role: string, service = 'reporting') => named('TicketingRoleMissing', { service, role });
    const crashed = [down({ role: 'consumer', instance: 'a' }), down({ role: 'consumer', instance: 'b' })];
    expect(await sent([...crashed, missing('consumer')])).toEqual([
      'TicketingServiceDown reporting',
      'TicketingServiceDown reporting',
    ]);
    expect(await sent([down({ role: 'api' }), missing('consumer'), missing('consumer', 'intents')])).toEqual([
      'TicketingRoleMissing intents',
      'TicketingRoleMissing reporting',
      'TicketingServiceDown reporting',
    ]);
    expect(
      await sent([down({ process: 'background' }), missing('consumer'), missing('scheduler'), missing('api')]),
    ).toEqual(['TicketingRoleMissing reporting', 'TicketingServiceDown reporting']);
    expect(await sent([down({}), missing('consumer')])).toHaveLength(2);
  });

  test('sends a service without a process instead of what waits for it', async () => {
    const absent = (service: string) => named('TicketingServiceAbsent', { service });
    const waiting = [
      named('TicketingServerErrors'),
      named('TicketingRequestsSlow'),
      named('TicketingConsumerBehind', { service: 'reporting', group: 'reporting' }),
      named('TicketingReportingStale', { service: 'reporting' }),
      named('TicketingAnalysesLate', { service: 'intents' }),
    ];
    expect(await sent([absent('tickets'), ...waiting])).toEqual(['TicketingServiceAbsent tickets']);
    expect(await sent([absent('knowledge'), ...waiting])).toEqual([
      'TicketingAnalysesLate intents',
      'TicketingConsumerBehind reporting',
      'TicketingRequestsSlow',
      'TicketingServerErrors',
      'TicketingServiceAbsent knowledge',
    ]);
  });

  test('sends one alert when most deliveries of webhooks fail', async () => {
    const failing = named('TicketingWebhookEndpointFailing', { service: 'settings' });
    expect(await sent([named('TicketingWebhooksFail'), failing])).toEqual(['TicketingWebhooksFail']);
    expect(await sent([failing])).toEqual(['TicketingWebhookEndpointFailing settings']);
  });

  test('an issuer that one service does not reach hides no work that waits', async () => {
    expect(
      await sent([
        named('TicketingDependencyDown', { service: 'tickets', dependency: 'issuer' }),
        named('TicketingMailsLate', { service: 'tickets' }),
      ]),
    ).toEqual(['TicketingDependencyDown tickets', 'TicketingMailsLate tickets']);
  });
});
