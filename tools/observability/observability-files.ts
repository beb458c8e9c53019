import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';

/** A rule that raises an alert. */
export interface AlertRule {
  alert: string;
  expr: string;
  for?: string;
  labels?: Readonly<Record<string, string>>;
  annotations?: Readonly<Record<string, string>>;
}

/** A rule that records the result of a query under a name. */
export interface RecordingRule {
  record: string;
  expr: string;
}

/** A query of a panel of a dashboard. */
export interface PanelQuery {
  dashboard: string;
  panel: string;
  expr: string;
}

/** The folder of the files for Prometheus and Grafana. */
const observabilityFolder = join(import.meta.dirname, '..', '..', 'deploy', 'observability');
/** The file with the rules for Prometheus. */
export const rulesFile = join(observabilityFolder, 'prometheus', 'rules.yaml');

/** The rules for Prometheus. */
export function readRules(): { alerts: AlertRule[]; records: RecordingRule[] } {
  const { groups } = parse(readFileSync(rulesFile, 'utf8')) as { groups: { rules: (AlertRule | RecordingRule)[] }[] };
  const rules = groups.flatMap((group) => group.rules);
  return {
    alerts: rules.filter((rule) => 'alert' in rule),
    records: rules.filter((rule) => 'record' in rule),
  };
}

/** The configuration of Prometheus: the processes from which it collects metrics, and the files of its rules. */
export interface PrometheusConfig {
  rule_files: string[];
  scrape_configs: {
    static_configs: { targets: string[]; labels: { service: string; role?: string; process?: string } }[];
  }[];
}

/** The configuration of Prometheus. */
export function readPrometheusConfig(): PrometheusConfig {
  return parse(readFileSync(join(observabilityFolder, 'prometheus', 'prometheus.yaml'), 'utf8')) as PrometheusConfig;
}

/** The queries of all dashboards. */
export function readPanelQueries(): PanelQuery[] {
  const folder = join(observabilityFolder, 'grafana');
  return readdirSync(folder).flatMap((dashboard) => {
    const { panels } = JSON.parse(readFileSync(join(folder, dashboard), 'utf8')) as {
      panels: { title: string; targets: { expr: string }[] }[];
    };
    return panels.flatMap(({ title, targets }) => targets.map(({ expr }) => ({ dashboard, panel: title, expr })));
  });
}

/** A rule by which an alert is not sent while another one fires. */
export interface InhibitRule {
  source_matchers: string[];
  target_matchers: string[];
  equal?: string[];
}

/** The file of the Alertmanager. */
export const alertmanagerFile = join(observabilityFolder, 'alertmanager', 'alertmanager.yaml');

/** The rules of the Alertmanager for alerts that follow from others. */
export function readInhibitRules(): InhibitRule[] {
  return (parse(readFileSync(alertmanagerFile, 'utf8')) as { inhibit_rules: InhibitRule[] }).inhibit_rules;
}
