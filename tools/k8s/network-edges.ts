import { BlockList, isIP } from 'node:net';

/** An end of a connection, which opens or accepts it: a pod, or an address outside of the cluster. */
export interface Endpoint {
  /** Its name in an edge; the replicas of a role have one name. */
  name: string;
  /** The labels of a pod; undefined for an address. */
  labels?: Readonly<Record<string, string>>;
  /** The labels of its namespace; undefined in the namespace of the policies. */
  namespace?: Readonly<Record<string, string>>;
  address?: string;
}

/** A NetworkPolicy, as far as it is understood here. */
export interface NetworkPolicy {
  spec: {
    podSelector: Selector;
    policyTypes: readonly string[];
    ingress?: readonly Rule[];
    egress?: readonly Rule[];
  };
}

interface Selector {
  matchLabels?: Readonly<Record<string, string>>;
  matchExpressions?: readonly Expression[];
}

interface Expression {
  key: string;
  operator: string;
  values?: readonly string[];
}

interface Rule {
  from?: readonly Peer[];
  to?: readonly Peer[];
  ports?: readonly Port[];
}

interface Port {
  port: number;
  /** TCP if undefined. */
  protocol?: string;
}

interface Peer {
  podSelector?: Selector;
  namespaceSelector?: Selector;
  ipBlock?: { cidr: string; except?: readonly string[] };
}

/**
 * Says which connections the policies of a namespace allow, as Kubernetes would: all of a pod that no policy of this
 * direction selects, else those that one of them names. A connection must be allowed at both ends.
 *
 * Shape: `FROM -> TO PORT/PROTOCOL`, sorted.
 * Errors: a member of a policy that is not understood.
 */
export function allowedEdges(
  policies: readonly NetworkPolicy[],
  endpoints: readonly Endpoint[],
  ports: readonly { port: number; protocol: string }[],
): string[] {
  for (const { spec } of policies) requireUnderstood(spec);
  const sides = endpoints.map((endpoint) => ({
    endpoint,
    egress: rulesFor(endpoint, 'egress', policies),
    ingress: rulesFor(endpoint, 'ingress', policies),
  }));
  const edges = sides.flatMap((from) =>
    sides
      .filter((to) => isInNamespace(from.endpoint) || isInNamespace(to.endpoint))
      .flatMap((to) => {
        const leaves = portsTo(from.egress, to.endpoint);
        const enters = portsTo(to.ingress, from.endpoint);
        return ports
          .filter((port) => leaves(port) && enters(port))
          .map(({ port, protocol }) => `${from.endpoint.name} -> ${to.endpoint.name} ${port}/${protocol}`);
      }),
  );
  return edges.toSorted();
}

/** The rules of the policies that select an endpoint; undefined if none does, and so everything is allowed. */
function rulesFor(
  endpoint: Endpoint,
  direction: 'ingress' | 'egress',
  policies: readonly NetworkPolicy[],
): readonly Rule[] | undefined {
  const type = direction === 'ingress' ? 'Ingress' : 'Egress';
  const selecting = policies.filter(
    ({ spec }) =>
      isInNamespace(endpoint) && spec.policyTypes.includes(type) && selects(spec.podSelector, endpoint.labels ?? {}),
  );
  return selecting.length === 0 ? undefined : selecting.flatMap(({ spec }) => spec[direction] ?? []);
}

/** Says which ports rules allow for a peer. */
function portsTo(rules: readonly Rule[] | undefined, peer: Endpoint): (port: Port) => boolean {
  if (rules === undefined) return () => true;
  const applying = rules.filter(({ from, to }) => {
    const peers = from ?? to;
    return peers === undefined || peers.some((one) => matches(one, peer));
  });
  return (port) => applying.some(({ ports }) => ports === undefined || ports.some((one) => isSame(one, port)));
}

function isInNamespace({ labels, namespace }: Endpoint): boolean {
  return labels !== undefined && namespace === undefined;
}

function isSame(left: Port, right: Port): boolean {
  return left.port === right.port && (left.protocol ?? 'TCP') === (right.protocol ?? 'TCP');
}

function matches({ podSelector, namespaceSelector, ipBlock }: Peer, endpoint: Endpoint): boolean {
  if (ipBlock) {
    const { address } = endpoint;
    return (
      address !== undefined && contains(ipBlock.cidr, address) && !ipBlock.except?.some((one) => contains(one, address))
    );
  }
  if (endpoint.labels === undefined) return false;
  const isNamespace = namespaceSelector
    ? selects(namespaceSelector, endpoint.namespace ?? {})
    : endpoint.namespace === undefined;
  return isNamespace && (podSelector === undefined || selects(podSelector, endpoint.labels));
}

function selects(
  { matchLabels = {}, matchExpressions = [] }: Selector,
  labels: Readonly<Record<string, string>>,
): boolean {
  return (
    Object.entries(matchLabels).every(([key, value]) => labels[key] === value) &&
    matchExpressions.every((expression) => holds(expression, labels))
  );
}

/** As in Kubernetes, `NotIn` holds for a pod without the label too. */
function holds({ key, operator, values = [] }: Expression, labels: Readonly<Record<string, string>>): boolean {
  const isIn = values.includes(labels[key] ?? '') && key in labels;
  if (operator === 'In') return isIn;
  if (operator === 'NotIn') return !isIn;
  throw new Error(`The operator ${operator} of a NetworkPolicy is not understood.`);
}

function contains(cidr: string, address: string): boolean {
  const [network = '', prefix] = cidr.split('/');
  const family = (ip: string) => (isIP(ip) === 6 ? 'ipv6' : 'ipv4');
  if (family(network) !== family(address)) return false;
  const list = new BlockList();
  list.addSubnet(network, Number(prefix), family(network));
  return list.check(address, family(address));
}

const understood = new Set([
  ...['podSelector', 'policyTypes', 'ingress', 'egress', 'from', 'to', 'ports', 'protocol', 'port'],
  ...['namespaceSelector', 'ipBlock', 'cidr', 'except', 'matchLabels'],
  ...['matchExpressions', 'key', 'operator', 'values'],
]);

/** A member that is passed over would make an edge seem allowed, or denied, that is not. */
function requireUnderstood(part: unknown, path = 'spec'): void {
  if (Array.isArray(part)) for (const one of part) requireUnderstood(one, path);
  else if (typeof part === 'object' && part !== null && !path.endsWith('.matchLabels')) {
    for (const [member, value] of Object.entries(part)) {
      const isPort = member !== 'port' || typeof value === 'number';
      if (!understood.has(member) || !isPort)
        throw new Error(`${path}.${member} of a NetworkPolicy is not understood.`);
      requireUnderstood(value, `${path}.${member}`);
    }
  }
}
