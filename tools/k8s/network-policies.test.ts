import { specialPurpose } from '@ticketing/outbound/address-rules.ts';
import { expect, it } from 'vitest';
import { partOfSystem } from './manifest.ts';
import { allowedEdges, type NetworkPolicy } from './network-edges.ts';
import { readManifests } from './read-manifests.ts';
import { declaredEdges, endpoints, ports } from './system-edges.ts';

const policies = readManifests('deploy/k8s/base/!(kustomization|pod|job).yaml').filter(
  ({ kind }) => kind === 'NetworkPolicy',
);
const listEdges = (some: unknown[]) => allowedEdges(some as NetworkPolicy[], endpoints, ports);
const changed = (name: string, change: (spec: NonNullable<unknown> & Record<string, never[]>) => void) =>
  structuredClone(policies).map((policy) => {
    if (policy.metadata.name === name) change(policy.spec);
    return policy;
  });

// guarantee: C22
// asvs: 13.1.1
it('the policies allow the edges that the description of the system declares, and no others', () => {
  const edges = listEdges(policies);
  expect(edges).toEqual(declaredEdges());
  expect(edges).toContain('tickets/mailer -> mail 587/TCP');
  expect(edges.filter((edge) => edge.includes('settings/set-up'))).toEqual([
    'settings/set-up -> dns 53/TCP',
    'settings/set-up -> dns 53/UDP',
    'settings/set-up -> kafka 9092/TCP',
    'settings/set-up -> kafka 9093/TCP',
    'settings/set-up -> mongodb 27017/TCP',
  ]);
  expect(edges.filter((edge) => /another|private|metadata/.test(edge))).toEqual([]);
});

it('with issuer-url, all pods but those of set-up reach the Internet, and nothing else in addition', () => {
  const issuer = readManifests('deploy/k8s/components/issuer-url/policy.yaml');
  const edges = listEdges([...policies, ...issuer]);
  expect(edges).toEqual(declaredEdges({ readsIssuerUrl: true }));
  expect(edges).toContain('gateway/api -> internet 443/TCP');
  expect(edges).not.toContain('tickets/set-up -> internet 443/TCP');
});

it('an address that a service refuses to dial is refused by the policies too', () => {
  const pod = { name: 'pod', labels: { ...partOfSystem, 'app.kubernetes.io/name': 'settings' } };
  for (const { address } of specialPurpose) {
    const edges = allowedEdges(policies as unknown as NetworkPolicy[], [pod, { name: 'address', address }], ports);
    expect(edges, address).toEqual([]);
  }
});

// asvs: 13.2.2
it('a missing edge and an edge too many would be found', () => {
  const without = changed('reporting', ({ egress }) => egress?.splice(0, 1));
  const declared = declaredEdges();
  expect(missing(declared, listEdges(without))).toContain('reporting/api -> tickets/api 9081/TCP');
  const open = changed('knowledge', ({ egress }) => egress?.push({} as never));
  const extra = missing(listEdges(open), declared);
  expect(extra).toContain('knowledge/api -> metadata of the cloud 80/TCP');
  expect(extra).not.toContain('knowledge/api -> gateway/api 8080/TCP');
});

it('a policy that this check does not understand is an error', () => {
  const named = changed('tickets', ({ ingress }) => ingress?.push({ ports: [{ port: 'http' }] } as never));
  expect(() => listEdges(named)).toThrow(/port of a NetworkPolicy is not understood/);
  const wanted = { matchExpressions: [{ key: 'app.kubernetes.io/name', operator: 'Exists' }] };
  const matching = changed('tickets', ({ podSelector }) => Object.assign(podSelector ?? {}, wanted));
  expect(() => listEdges(matching)).toThrow(/operator Exists/);
  const fields = changed('tickets', ({ podSelector }) => Object.assign(podSelector ?? {}, { matchFields: [] }));
  expect(() => listEdges(fields)).toThrow(/matchFields/);
});

/** The edges of one list that another has not. */
function missing(edges: readonly string[], from: readonly string[]): string[] {
  const known = new Set(from);
  return edges.filter((edge) => !known.has(edge));
}
