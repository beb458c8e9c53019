import { consumedTopics, serviceNamed, services } from '@ticketing/system/services.ts';
import { partOfSystem, setUp } from './manifest.ts';
import type { Endpoint } from './network-edges.ts';

/** The operations that pods of Jobs run, in addition to the roles. Pods of set-up have different edges. */
const jobs = ['ledger', 'apply-ledger'];

/** The pods of this system, and what else could be reached, or could try to reach them. */
export const endpoints: readonly Endpoint[] = [
  ...services.flatMap(({ name, roles, hasStore }) =>
    [...roles, ...(hasStore ? [setUp, ...jobs] : [])].map((role) => ({
      name: `${name}/${role}`,
      labels: { ...partOfSystem, 'app.kubernetes.io/name': name, 'app.kubernetes.io/component': role },
    })),
  ),
  ...['mongodb', 'kafka', 'mail', 'metrics', 'ingress'].map((kind) => ({
    name: kind,
    labels: {},
    namespace: { [`ticketing/${kind}`]: 'true' },
  })),
  { name: 'dns', labels: { 'k8s-app': 'kube-dns' }, namespace: { 'kubernetes.io/metadata.name': 'kube-system' } },
  { name: 'another pod', labels: {} },
  { name: 'another namespace', labels: {}, namespace: {} },
  { name: 'internet', address: '93.184.216.34' },
  { name: 'internet by IPv6', address: '2a00:1450::1' },
  { name: 'private network', address: '10.1.2.3' },
  { name: 'private network by IPv6', address: 'fd00::1' },
  { name: 'metadata of the cloud', address: '169.254.169.254' },
  { name: 'metadata of another cloud', address: '168.63.129.16' },
];

/** The ports that anything here listens on, and some besides. */
export const ports: readonly { port: number; protocol: string }[] = [
  ...services.flatMap(({ ports: { http, grpc } }) => [http, http + 2000, ...(grpc === undefined ? [] : [grpc])]),
  ...[22, 25, 53, 80, 443, 465, 587, 2525, 9092, 9093, 27_017],
]
  .map((port) => ({ port, protocol: 'TCP' }))
  .concat([
    { port: 53, protocol: 'UDP' },
    { port: 443, protocol: 'UDP' },
  ]);

/**
 * The edges that the description of the system declares, in the form of `allowedEdges`. With `readsIssuerUrl`, every process
 * that verifies tokens reads the keys of the issuer from the Internet.
 */
export function declaredEdges({ readsIssuerUrl = false } = {}): string[] {
  return services
    .flatMap((entry) => {
      const { name, calls, roles, hasStore, publishes, makesOutboundRequests } = entry;
      const pods = [...roles, ...(hasStore ? jobs : [])].map((role) => `${name}/${role}`);
      const called = calls.map((callee) => {
        const { http, grpc } = serviceNamed(callee).ports;
        return `${callee}/api ${name === 'gateway' ? http : grpc}/TCP`;
      });
      const usesBus = publishes.length + consumedTopics(entry).length > 0;
      const names = ['dns 53/TCP', 'dns 53/UDP'];
      const servers = [
        ...(hasStore ? ['mongodb 27017/TCP'] : []),
        ...(usesBus ? ['kafka 9092/TCP', 'kafka 9093/TCP'] : []),
      ];
      const targets = [
        ...[...names, ...called, ...servers],
        ...(makesOutboundRequests || readsIssuerUrl ? ['internet 443/TCP', 'internet by IPv6 443/TCP'] : []),
      ];
      return [
        ...pods.flatMap((pod) => [
          ...targets.map((target) => `${pod} -> ${target}`),
          `metrics -> ${pod} ${entry.ports.http + 2000}/TCP`,
        ]),
        ...(hasStore ? [...names, ...servers].map((target) => `${name}/${setUp} -> ${target}`) : []),
        ...(roles.includes('mailer') ? [465, 587].map((port) => `${name}/mailer -> mail ${port}/TCP`) : []),
        ...(roles.includes('mail-receiver') ? [`mail -> ${name}/mail-receiver 2525/TCP`] : []),
        ...(name === 'gateway' ? [`ingress -> ${name}/api ${entry.ports.http}/TCP`] : []),
      ];
    })
    .toSorted();
}
