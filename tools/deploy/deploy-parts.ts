import { serviceNamed, services } from '@ticketing/system/services.ts';
import { composeParts } from './compose-parts.ts';

/**
 * The parts of files in deploy/ that follow from the description of the system, by file and name. Each stands in its file
 * between two comments: `# generated: NAME` and `# end: NAME`.
 */
export function deployParts(): Readonly<Record<string, Readonly<Record<string, string>>>> {
  const compose = composeParts();
  const proxied = serviceNamed('gateway').calls;
  const urls = (scheme: string) =>
    services
      .filter(({ name }) => proxied.includes(name))
      .map(({ name, ports }) => `      - ${name.toUpperCase()}_URL=${scheme}://${name}:${ports.http}`)
      .join('\n');
  const gatewayFirst = services.toSorted(
    (one, other) => Number(other.name === 'gateway') - Number(one.name === 'gateway'),
  );
  const images = (registry: string, tag: string) =>
    gatewayFirst
      .map(({ name }) => `  - { name: ticketing/${name}, newName: ${registry}/ticketing/${name}, newTag: ${tag} }`)
      .join('\n');
  return {
    'deploy/compose/compose.yaml': { services: compose.services, keys: compose.keys },
    'deploy/compose/compatible.yaml': { 'set-ups': compose['set-ups'] },
    'deploy/observability/prometheus/prometheus.yaml': { targets: renderTargets() },
    'deploy/observability/prometheus/rules.yaml': { absent: renderAbsent() },
    'deploy/k8s/base/kustomization.yaml': {
      services: gatewayFirst.map(({ name }) => `  - ${name}.yaml`).join('\n'),
      urls: urls('http'),
    },
    'deploy/k8s/components/tls/kustomization.yaml': { urls: urls('https') },
    'deploy/k8s/overlays/prod/kustomization.yaml': { images: images('registry.example', '0.1.0') },
    'deploy/k8s/overlays/dev/kustomization.yaml': { images: images('localhost', 'dev') },
  };
}

/** Renders the targets of Prometheus: both processes of each service of the compose file, at their internal ports. */
function renderTargets(): string {
  const target = (process: string, port: number, labels: string) =>
    `      - targets: ["${process}:${port}"]\n        labels: { ${labels} }`;
  return services
    .flatMap(({ name, ports, roles }) => [
      target(name, ports.http + 2000, `service: ${name}, role: api`),
      ...(roles.length > 1
        ? [target(`${name}-background`, ports.http + 2000, `service: ${name}, process: background`)]
        : []),
    ])
    .join('\n');
}

/** Renders the query that finds services of which no process has metrics. */
function renderAbsent(): string {
  const series = services.map(({ name }) => `absent(ticketing_build_info{service="${name}"})`);
  return `        expr: |\n          ${series.join('\n          or ')}`;
}
