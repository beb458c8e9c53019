import { execFileSync } from 'node:child_process';
import { services } from '@ticketing/system/services.ts';
import mongoose from 'mongoose';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { readPanelQueries, readRules, rulesFile } from '../../tools/observability/observability-files.ts';
import { type System, startSystem } from '../e2e/harness.ts';
import { isPrometheusInstalled, type Prometheus, startPrometheus } from './prometheus.ts';
import { type Load, startLoad } from './some-load.ts';

/** These alerts say how quick the machine is, on which everything else runs too. */
const ofMachine = ['TicketingEventLoopBlocked', 'TicketingRequestsSlow'];

if (!isPrometheusInstalled)
  test('a machine that lacks what it needs', ({ skip }) => skip("Debian's package prometheus is not installed"));

describe.skipIf(!isPrometheusInstalled)('a Prometheus that watches a system', () => {
  let system: System;
  let prometheus: Prometheus;
  let load: Load;

  beforeAll(async () => {
    system = await startSystem({ analyses: true });
    prometheus = await startPrometheus(system);
    // A counter that increases before its first scrape has no rate.
    const allAreSeen = async () => expect(await prometheus.query('up == 1')).toHaveLength(services.length);
    await vi.waitFor(allAreSeen, { timeout: 30_000, interval: 500 });
    load = await startLoad(system);
  });
  afterAll(async () => {
    await prometheus?.stop();
    await system?.stop();
  });

  test('accepts the rules', () => {
    expect(execFileSync('promtool', ['check', 'rules', rulesFile], { encoding: 'utf8' })).toContain('SUCCESS');
  });

  const queries = readPanelQueries().map((query) => [query.dashboard, query.panel, query.expr] as const);
  // guarantee: S3
  test.each(queries)('has a result for %s, %s: %s', async (_dashboard, _panel, expr) => {
    const values = async () => (await prometheus.query(expr)).map(({ value }) => value);
    await expect.poll(values).toContainEqual(expect.toSatisfy(Number.isFinite));
  });

  // guarantee: S3
  test('has no alert on a healthy system, and can evaluate each', async () => {
    for (const { alert, expr } of readRules().alerts) {
      if (ofMachine.includes(alert)) await prometheus.query(expr);
      else await expect.poll(() => prometheus.query(expr), { message: `${alert}: ${expr}` }).toEqual([]);
    }
    const firing = async () =>
      (await prometheus.firing()).filter(({ alertname = '' }) => !ofMachine.includes(alertname));
    await expect.poll(firing).toEqual([]);
    await load.stop();
  });

  // guarantee: S3
  test('raises the alert of an event that cannot be handled, and of a service that does not respond', async () => {
    const alerts = async () =>
      (await prometheus.firing()).map(({ alertname, service, group }) => [alertname, service ?? group]);
    const client = await mongoose
      .createConnection(system.mongodbUri, { dbName: `${system.name}_reporting` })
      .asPromise();
    const deadLetter = { group: 'reporting', topic: 'ticketing.ticket.changed.v1', key: '1', offset: 1 };
    await client.collection('deadLetters').insertOne(deadLetter);
    await client.close();
    await expect.poll(alerts).toContainEqual(['TicketingKeysBlocked', 'reporting']);
    await system.stopService('knowledge');
    await expect.poll(alerts).toContainEqual(['TicketingServiceDown', 'knowledge']);
  });
});
