import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { services } from '@ticketing/system/services.ts';
import { describe, expect, onTestFinished, test } from 'vitest';
import { rulesFile } from '../../tools/observability/observability-files.ts';
import { isPrometheusInstalled } from './prometheus.ts';

if (!isPrometheusInstalled)
  test('a machine that lacks what it needs', ({ skip }) => skip("Debian's package prometheus is not installed"));

type Series = Readonly<Record<string, string>>;

const names = services.map(({ name }) => name);
const info = (name: string) => `ticketing_build_info{service="${name}",version="1"}`;
const healthy: Series = {
  'up{job="ticketing",service="tickets"}': '1x40',
  ...Object.fromEntries(names.map((name) => [info(name), '1x40'])),
};

/** The labels of the alerts of a rule that fire after ten minutes, on series with one value a minute. */
function firing(series: Series, alertname: string): string[] {
  const folder = mkdtempSync(join(tmpdir(), 'ticketing-rules-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const input = Object.entries({ ...healthy, ...series }).map(([name, values]) => ({ series: name, values }));
  const rule = { eval_time: '10m', alertname, exp_alerts: [] };
  const tests = [{ interval: '1m', input_series: input, alert_rule_test: [rule] }];
  const file = join(folder, 'test.yaml');
  writeFileSync(file, JSON.stringify({ rule_files: [rulesFile], evaluation_interval: '1m', tests }));
  const { stdout, stderr, status } = spawnSync('promtool', ['test', 'rules', file], { encoding: 'utf8' });
  if (status === 0) return [];
  // The rule expects no alerts, so that promtool prints the alerts that it got.
  const output = `${stdout}${stderr}`.replace(/\s+/g, ' ');
  const found = [...output.slice(output.indexOf('got:')).matchAll(/Labels:\{([^}]*)\}/g)];
  if (found.length === 0) throw new Error(output);
  return found.map(([, labels = '']) => labels.replace(/alertname="\w+",? ?|,? ?severity="\w+"/g, ''));
}

describe.skipIf(!isPrometheusInstalled)('the rules raise', () => {
  test('an alert for a service of which there are no metrics, for each service', () => {
    expect(firing({}, 'TicketingServiceAbsent')).toEqual([]);
    for (const name of names) {
      expect(firing({ [info(name)]: '1 stale' }, 'TicketingServiceAbsent')).toEqual([`service="${name}"`]);
    }
  });

  test('an alert if there is no target at all', () => {
    expect(firing({}, 'TicketingNothingScraped')).toEqual([]);
    expect(firing({ 'up{job="ticketing",service="tickets"}': '1 stale' }, 'TicketingNothingScraped')).toHaveLength(1);
  });

  test('one alert for a role without a process, however many processes see it', () => {
    const age = (instance: string, role: string) =>
      `ticketing_role_last_seen_seconds{service="reporting",role="${role}",instance="${instance}"}`;
    const ages = { [age('a', 'consumer')]: '0+60x40', [age('b', 'consumer')]: '0+60x40', [age('a', 'api')]: '5x40' };
    expect(firing(ages, 'TicketingRoleMissing')).toEqual(['role="consumer", service="reporting"']);
  });

  test('one alert for a database that no service reaches, and none of it while one does', () => {
    const up = (name: string, values: string) => ({
      [`dependency_up{service="${name}",dependency="mongodb",instance="1"}`]: values,
    });
    const down = { ...up('tickets', '0x40'), ...up('intents', '0x40') };
    expect(firing(down, 'TicketingServerDown')).toEqual(['dependency="mongodb"']);
    expect(firing({ ...down, ...up('settings', '1x40') }, 'TicketingServerDown')).toEqual([]);
  });

  test('an alert two weeks before a certificate ends', () => {
    const left = (days: number) => ({
      'tls_certificate_left_seconds{service="tickets",file="TLS_CERT_FILE"}': `${days * 86_400}x40`,
    });
    expect(firing(left(15), 'TicketingCertificateEnds')).toEqual([]);
    expect(firing(left(13), 'TicketingCertificateEnds')).toEqual(['file="TLS_CERT_FILE", service="tickets"']);
  });

  test('an alert for an old backup and an old ledger, and none where there never was one', () => {
    const age = (kind: string, hours: number) => ({
      [`backup_age_seconds{service="tickets",kind="${kind}"}`]: `${hours * 3_600}x40`,
    });
    expect(firing({}, 'TicketingBackupLate')).toEqual([]);
    expect(firing(age('backup', 47), 'TicketingBackupLate')).toEqual([]);
    expect(firing(age('backup', 49), 'TicketingBackupLate')).toHaveLength(1);
    expect(firing(age('ledger', 2), 'TicketingLedgerLate')).toHaveLength(1);
  });
});
