import { readServiceConfig } from '@ticketing/service-kit/config/service-config.ts';
import { serviceNamed, services } from '@ticketing/system/services.ts';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { readStores } from '../../tools/k8s/database-users.ts';
import { toEnvironment } from '../../tools/k8s/environment.ts';
import { allowedEdges, type NetworkPolicy } from '../../tools/k8s/network-edges.ts';
import { findOwnConfig } from '../../tools/k8s/own-config.ts';
import { makeSecrets } from '../../tools/k8s/secrets.ts';
import { declaredEdges, endpoints, ports } from '../../tools/k8s/system-edges.ts';
import { renderInstallation } from './installation.ts';
import { kubectl, type LiveObject, readObjects, watch } from './kubectl.ts';
import { resourceDefinitionFiles } from './resource-definitions.ts';

const overlays: { overlay: 'dev' | 'prod'; components: string[]; replicasOfApi: number; isProduction: boolean }[] = [
  {
    overlay: 'dev',
    components: ['gateway-api', 'keda', 'keda-tls', 'ledger', 'monitoring', 'tls'],
    replicasOfApi: 1,
    isProduction: false,
  },
  { overlay: 'prod', components: ['pull-secret'], replicasOfApi: 3, isProduction: true },
];
const hasControlPlane = Boolean(process.env.KUBECONFIG);
if (!hasControlPlane) it('a machine that lacks what it needs', ({ skip }) => skip('KUBECONFIG names no control plane'));
const title = 'the overlay $overlay on a control plane';
const secrets = new Map(
  makeSecrets({ stores: readStores({ MONGODB_URI: 'mongodb://store' }) }).map(({ metadata, stringData }) => [
    metadata.name,
    stringData,
  ]),
);

describe.skipIf(!hasControlPlane).each(overlays)(title, ({ overlay, components, replicasOfApi, isProduction }) => {
  const installation = renderInstallation(overlay, components);
  const { namespace } = installation;
  const live = (kind: string) => readObjects(namespace, kind);
  const rolledOut = (version: string) =>
    expect.poll(() => installation.isRolledOut(version), { timeout: 240_000, interval: 500 }).toBe(true);

  beforeAll(async () => {
    const files = await resourceDefinitionFiles();
    await kubectl('apply', '--server-side', ...files.flatMap((file) => ['--filename', file]));
    await kubectl('wait', '--for=condition=Established', 'crd', '--all', '--timeout=60s');
  }, 200_000);
  afterAll(() => installation.remove(), 90_000);

  it('is accepted without a warning in a namespace that enforces Pod Security "restricted"', async () => {
    const { stdout, stderr } = await installation.apply('1.0.0');
    const lines = stdout.trim().split('\n');
    expect(stderr).toBe('');
    expect(lines.filter((line) => !line.endsWith(' created'))).toEqual([]);
    expect(lines).toContain(`namespace/${namespace} created`);
    const pod = ['run', 'unrestricted', '--image=x', '--namespace', namespace, '--dry-run=server'];
    await expect(kubectl(...pod)).rejects.toThrow(/violates PodSecurity "restricted/);
  });

  it('is rolled out, set up, and spread over the zones', async () => {
    await rolledOut('1.0.0');
    const [deployments, pods] = await Promise.all([live('deployments'), live('pods')]);
    const zones = await zonesOfNodes();
    for (const { metadata, spec } of deployments) {
      const own = pods.filter((pod) => isSelected(pod, spec.selector.matchLabels));
      const used = own.map((pod) => zones.get(pod.spec.nodeName));
      const counts = [...new Set(zones.values())].map((zone) => used.filter((one) => one === zone).length);
      expect(own, metadata.name).toHaveLength(spec.replicas);
      expect(Math.max(...counts) - Math.min(...counts), metadata.name).toBeLessThanOrEqual(1);
      if (metadata.name.endsWith('-api')) expect(spec.replicas, metadata.name).toBe(replicasOfApi);
    }
    const isSetUp = ({ metadata, status }: LiveObject) =>
      metadata.labels?.['app.kubernetes.io/component'] !== 'set-up' || status.succeeded === 1;
    await expect.poll(async () => (await live('jobs')).every(isSetUp)).toBe(true);
  });

  it('has budgets and autoscalers that are bound to their Deployments, and Services to their pods', async () => {
    const replicas = new Map((await live('deployments')).map(({ metadata, spec }) => [metadata.name, spec.replicas]));
    const counted = async () =>
      (await live('poddisruptionbudgets')).map(({ metadata, status }) => [metadata.name, status.expectedPods]);
    await expect.poll(async () => new Map((await counted()) as [string, number][])).toEqual(replicas);
    await expect.poll(async () => (await live('horizontalpodautoscalers')).every(isAbleToScale)).toBe(true);
    for (const { spec } of await live('horizontalpodautoscalers')) {
      expect([...replicas.keys()]).toContain(spec.scaleTargetRef.name);
    }
    for (const { metadata, spec } of await live('scaledobjects.keda.sh')) {
      expect(replicas.get(spec.scaleTargetRef.name), metadata.name).toBe(1);
    }
    const [authentication] = await live('triggerauthentications.keda.sh');
    const references = Object.keys(authentication?.spec ?? {}).toSorted();
    const hasTls = components.includes('keda-tls');
    expect(references).toEqual(hasTls ? ['configMapTargetRef', 'secretTargetRef'] : []);
    expect((await live('configmaps')).some(({ metadata }) => metadata.name === 'keda-bus')).toBe(hasTls);
    const slices = (await live('endpointslices')) as (LiveObject & { endpoints: unknown[] | null })[];
    expect(slices).toHaveLength((await live('services')).length);
    for (const { metadata, endpoints: found } of slices) expect(found?.length, metadata.name).toBeGreaterThan(0);
  });

  it('gives each process a configuration with which it starts', async () => {
    const configMaps = new Map((await live('configmaps')).map(({ metadata, data }) => [metadata.name, data ?? {}]));
    const cronJobs = await live('cronjobs');
    expect(cronJobs).toHaveLength(
      components.includes('ledger') ? 2 * services.filter(({ hasStore }) => hasStore).length : 0,
    );
    const running = [...(await live('deployments')), ...(await live('jobs')), ...cronJobs];
    for (const { metadata, spec } of running) {
      const service = metadata.labels?.['app.kubernetes.io/name'] ?? '';
      const [container] = (spec.jobTemplate?.spec ?? spec).template.spec.containers;
      const environment = toEnvironment(container, configMaps, secrets);
      expect(() => readServiceConfig(serviceNamed(service), environment, findOwnConfig(service))).not.toThrow();
    }
  });

  it.runIf(components.includes('ledger'))('makes a Job of the suspended CronJob that applies a ledger', async () => {
    const job = ['create', 'job', 'restored', '--from=cronjob/tickets-apply-ledger', '--namespace', namespace];
    const { stdout, stderr } = await kubectl(...job, '--dry-run=server', '--output', 'json');
    const { metadata, spec } = JSON.parse(stdout) as LiveObject;
    expect(metadata.labels).toMatchObject({ 'app.kubernetes.io/component': 'apply-ledger' });
    expect([stderr, spec.template.spec.containers[0].args]).toEqual(['', ['apply-ledger', '/ledger/ledger.jsonl']]);
  });

  // guarantee: C22
  it('allows the connections that the description of the system declares, and no others', async () => {
    const policies = (await live('networkpolicies')) as unknown as NetworkPolicy[];
    expect(allowedEdges(policies, endpoints, ports)).toEqual(declaredEdges({ readsIssuerUrl: isProduction }));
  });

  it.runIf(isProduction)('is upgraded without ever having fewer pods than its budgets demand', async () => {
    const before = new Map((await live('deployments')).map(({ metadata, spec }) => [metadata.name, spec.replicas]));
    const needed = new Map((await live('pdb')).map(({ metadata, status }) => [metadata.name, status.desiredHealthy]));
    const deployments = watch(namespace, 'deployments', ['.metadata.name', '.status.availableReplicas']);
    const budgets = watch(namespace, 'pdb', ['.metadata.name', '.status.currentHealthy']);
    try {
      await expect.poll(() => deployments.lines.length + budgets.lines.length).toBeGreaterThanOrEqual(2 * before.size);
      const { stderr } = await installation.apply('1.1.0');
      expect(stderr).toBe('');
      await rolledOut('1.1.0');
    } finally {
      deployments.stop();
      budgets.stop();
    }
    // Several changes may be one line, so their number says only that the watch has seen the upgrade.
    expect(deployments.lines.length).toBeGreaterThan(before.size);
    expect(tooFew(deployments.lines, before)).toEqual([]);
    expect(tooFew(budgets.lines, needed)).toEqual([]);
  });
});

/** The lines `NAME COUNT` in which the count is lower than it must be. */
function tooFew(lines: readonly string[], least: ReadonlyMap<string, number>): string[] {
  return lines.filter((line) => {
    const [name = '', count = ''] = line.split(' ');
    return Number(count) < (least.get(name) ?? Number.POSITIVE_INFINITY);
  });
}

async function zonesOfNodes(): Promise<Map<string, string>> {
  const nodes = await readObjects('default', 'nodes');
  return new Map(nodes.map(({ metadata }) => [metadata.name, metadata.labels?.['topology.kubernetes.io/zone'] ?? '']));
}

function isSelected({ metadata }: LiveObject, labels: Readonly<Record<string, string>>): boolean {
  return Object.entries(labels).every(([key, value]) => metadata.labels?.[key] === value);
}

/** Whether the controller has found the Deployment of an autoscaler. */
function isAbleToScale({ status }: LiveObject): boolean {
  const conditions: { type: string; status: string }[] = status.conditions ?? [];
  return conditions.some((one) => one.type === 'AbleToScale' && one.status === 'True');
}
