import type { AddressRange } from '@ticketing/outbound/address-range.ts';
import { specialPurpose } from '@ticketing/outbound/address-rules.ts';
import { type ServiceEntry, serviceNamed, services } from '@ticketing/system/services.ts';
import {
  type Manifest,
  type PodLabels,
  partOfSystem,
  podsOfRole,
  podsOfService,
  runningPods,
  setUp,
} from './manifest.ts';
import { findInternalPort, mailReceiverPort, needsSetUp, usesBus } from './service-variables.ts';

/** Servers outside of the system, and the ports on which they are reached. */
const servers = {
  mongodb: [27017],
  kafka: [9092, 9093],
  mail: [465, 587],
};

/** The Internet for outbound requests: every address but those that the services refuse to dial. */
const publicAddresses = [
  { cidr: '0.0.0.0/0', except: listSpecialPurpose('ipv4') },
  { cidr: '::/0', except: listSpecialPurpose('ipv6') },
];

/**
 * Makes the policies for the connections that the pods of a service may accept and open. All others are denied by
 * deploy/k8s/base/policies.yaml, which also allows all pods to look up names.
 */
export function toNetworkPolicies(entry: ServiceEntry): Manifest[] {
  const { name, roles } = entry;
  return [
    policy(name, runningPods(podsOfService(name)), {
      ingress: [{ from: [namespaceWith('metrics')], ports: tcp(findInternalPort(entry)) }],
      egress: toEgress(entry),
    }),
    policy(`${name}-api`, select(podsOfRole(name, 'api')), { ingress: ingressOfApi(entry) }),
    ...(needsSetUp(entry)
      ? [policy(`${name}-${setUp}`, select(podsOfRole(name, setUp)), { egress: toOwnServers(entry) })]
      : []),
    ...(roles.includes('mailer')
      ? [policy(`${name}-mailer`, select(podsOfRole(name, 'mailer')), { egress: [toServers('mail')] })]
      : []),
    ...(roles.includes('mail-receiver')
      ? [
          policy(`${name}-mail-receiver`, select(podsOfRole(name, 'mail-receiver')), {
            ingress: [{ from: [namespaceWith('mail')], ports: tcp(mailReceiverPort) }],
          }),
        ]
      : []),
  ];
}

/**
 * Makes the policy of the component `issuer-url`: all pods may read the keys of an issuer on the Internet. Pods of
 * set-up may not, because they verify no tokens.
 */
export function issuerPolicy(): Manifest {
  return {
    ...policy('issuer', runningPods(partOfSystem), { egress: [toInternet()] }),
    metadata: { name: 'issuer', labels: partOfSystem },
  };
}

function toEgress(entry: ServiceEntry): object[] {
  const called = entry.calls.map((name) => ({
    to: [{ podSelector: select(podsOfRole(name, 'api')) }],
    ports: tcp(portOfCalls(entry, serviceNamed(name))),
  }));
  return [...called, ...toOwnServers(entry), ...(entry.makesOutboundRequests ? [toInternet()] : [])];
}

/** The store and the bus of a service, if it uses them. Its set-up needs no other servers. */
function toOwnServers(entry: ServiceEntry): object[] {
  return [...(entry.hasStore ? [toServers('mongodb')] : []), ...(usesBus(entry) ? [toServers('kafka')] : [])];
}

function ingressOfApi(entry: ServiceEntry): object[] {
  const callers = services.filter(({ calls }) => calls.includes(entry.name));
  const rules = callers.map((caller) => ({
    from: [{ podSelector: runningPods(podsOfService(caller.name)) }],
    ports: tcp(portOfCalls(caller, entry)),
  }));
  return callers.length > 0 ? rules : [{ from: [namespaceWith('ingress')], ports: tcp(entry.ports.http) }];
}

/** Services call each other by RPC; the gateway, which has no RPC API, calls by REST. */
function portOfCalls(caller: ServiceEntry, { name, ports }: ServiceEntry): number {
  const port = caller.ports.grpc === undefined ? ports.http : ports.grpc;
  if (port === undefined) throw new Error(`The ${name} service cannot be called by RPC.`);
  return port;
}

function toInternet(): object {
  return { to: publicAddresses.map((ipBlock) => ({ ipBlock })), ports: tcp(443) };
}

function listSpecialPurpose(family: AddressRange['family']): string[] {
  const ranges = specialPurpose.filter((range) => range.family === family);
  return ranges.map(({ address, prefix }) => `${address}/${prefix}`);
}

function toServers(kind: keyof typeof servers): object {
  return { to: [namespaceWith(kind)], ports: tcp(...servers[kind]) };
}

/** A namespace has a label for each kind of server in it. */
function namespaceWith(kind: string): object {
  return { namespaceSelector: { matchLabels: { [`ticketing/${kind}`]: 'true' } } };
}

function select(labels: PodLabels): object {
  return { matchLabels: labels };
}

function tcp(...ports: number[]): object[] {
  return ports.map((port) => ({ protocol: 'TCP', port }));
}

function policy(name: string, podSelector: object, rules: { ingress?: object[]; egress?: object[] }): Manifest {
  const policyTypes = [...(rules.ingress ? ['Ingress'] : []), ...(rules.egress ? ['Egress'] : [])];
  return {
    apiVersion: 'networking.k8s.io/v1',
    kind: 'NetworkPolicy',
    metadata: { name },
    spec: { podSelector, policyTypes, ...rules },
  };
}
