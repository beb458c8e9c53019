import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort } from '@ticketing/testkit/free-port.ts';
import { readPrometheusConfig, rulesFile } from '../../tools/observability/observability-files.ts';
import type { System } from '../e2e/harness.ts';

/** One series of the result of a query, with its value now. */
export interface QueriedSeries {
  metric: Record<string, string>;
  value: number;
}

/** A Prometheus that collects the metrics of a system and evaluates the rules. */
export interface Prometheus {
  /** Evaluates a query. Errors: what Prometheus says about a query that it refuses. */
  query(expr: string): Promise<QueriedSeries[]>;
  /** The labels of the alerts that fire. */
  firing(): Promise<Record<string, string>[]>;
  stop(): Promise<void>;
}

/** Whether the programs of Debian's package prometheus are installed. */
export const isPrometheusInstalled = spawnSync('prometheus', ['--version']).error === undefined;

/** Starts a Prometheus on a system. Its alerts fire as soon as their condition holds, not some minutes later. */
export async function startPrometheus(system: Pick<System, 'findPorts'>): Promise<Prometheus> {
  const folder = mkdtempSync(join(tmpdir(), 'ticketing-prometheus-'));
  const port = await freePort();
  writeFileSync(join(folder, 'rules.yaml'), readFileSync(rulesFile, 'utf8').replace(/ for: \w+/g, ' for: 0s'));
  writeFileSync(join(folder, 'prometheus.yaml'), renderConfiguration(system));
  const child: ChildProcess = spawn(
    'prometheus',
    [
      `--config.file=${join(folder, 'prometheus.yaml')}`,
      `--storage.tsdb.path=${join(folder, 'data')}`,
      `--web.listen-address=127.0.0.1:${port}`,
      '--log.level=error',
    ],
    { stdio: ['ignore', 'ignore', 'inherit'] },
  );
  const get = async (path: string) => {
    const response = await fetch(`http://127.0.0.1:${port}/api/v1/${path}`);
    const { data, error } = (await response.json()) as { data: unknown; error?: string };
    if (error !== undefined) throw new Error(`${decodeURIComponent(path)}: ${error}`);
    return data;
  };
  return {
    async query(expr) {
      const data = await get(`query?query=${encodeURIComponent(expr)}`);
      const { result } = data as { result: { metric: Record<string, string>; value: [number, string] }[] };
      return result.map(({ metric, value }) => ({ metric, value: Number(value[1]) }));
    },
    async firing() {
      const { alerts } = (await get('alerts')) as { alerts: { state: string; labels: Record<string, string> }[] };
      return alerts.filter(({ state }) => state === 'firing').map(({ labels }) => labels);
    },
    async stop() {
      const ended = once(child, 'exit');
      if (child.exitCode === null && child.kill('SIGTERM')) await ended;
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** The configuration of the repository, with the ports of the system and shorter intervals. JSON is YAML too. */
function renderConfiguration({ findPorts }: Pick<System, 'findPorts'>): string {
  const { scrape_configs: configs, ...configuration } = readPrometheusConfig();
  return JSON.stringify({
    ...configuration,
    global: { scrape_interval: '1s', evaluation_interval: '1s' },
    scrape_configs: configs.map(({ static_configs: targets, ...config }) => ({
      ...config,
      // The system of the tests has one process of each service, with all roles.
      static_configs: [...new Set(targets.map(({ labels }) => labels.service))].map((service) => ({
        targets: [`127.0.0.1:${findPorts(service).internal}`],
        labels: { service },
      })),
    })),
  });
}
