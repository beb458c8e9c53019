import { randomBytes } from 'node:crypto';
import { mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { services } from '@ticketing/system/services.ts';
import { stringify } from 'yaml';
import { kubectl, type LiveObject, type Printed, readObjects } from './kubectl.ts';

/** An overlay in a separate namespace. */
export interface Installation {
  namespace: string;
  /** Applies the overlay with a version of the images, in the way of docs/operations/kubernetes.md. */
  apply(version: string): Promise<Printed>;
  /** Whether all Deployments run this version, each with as many replicas as its autoscaler demands. */
  isRolledOut(version: string): Promise<boolean>;
  remove(): Promise<void>;
}

/** The registries of the images of the overlays. */
const registries = { prod: 'registry.example', dev: 'localhost' } as const;

const deployFolder = join(import.meta.dirname, '..', '..', 'deploy', 'k8s');

/** Makes an installation of an overlay with further components; `apply` creates it. */
export function renderInstallation(overlay: keyof typeof registries, components: readonly string[]): Installation {
  const namespace = `ticketing-test-${overlay}-${randomBytes(3).toString('hex')}`;
  const folder = mkdtempSync(join(realpathSync(tmpdir()), 'kustomization-'));
  const from = (part: string) => relative(folder, join(deployFolder, part));
  return {
    namespace,
    async apply(version) {
      const kustomization = {
        namespace,
        resources: [from(`overlays/${overlay}`)],
        components: components.map((name) => from(`components/${name}`)),
        images: services.map(({ name }) => ({ name: `${registries[overlay]}/ticketing/${name}`, newTag: version })),
      };
      writeFileSync(join(folder, 'kustomization.yaml'), stringify(kustomization));
      await kubectl(
        'delete',
        'jobs',
        '-n',
        namespace,
        '-l',
        'app.kubernetes.io/component=set-up',
        '--ignore-not-found',
      );
      return await kubectl('apply', '-k', folder);
    },
    async isRolledOut(version) {
      const [deployments, autoscalers] = await Promise.all([
        readObjects(namespace, 'deployments'),
        readObjects(namespace, 'horizontalpodautoscalers'),
      ]);
      const findLeast = (name: string) =>
        autoscalers.find(({ spec }) => spec.scaleTargetRef.name === name)?.spec.minReplicas ?? 1;
      return deployments.every((one) => isComplete(one, version) && one.spec.replicas >= findLeast(one.metadata.name));
    },
    async remove() {
      rmSync(folder, { recursive: true, force: true });
      await kubectl('delete', 'namespace', namespace, '--ignore-not-found', '--wait=false');
    },
  };
}

function isComplete({ metadata, spec, status }: LiveObject, version: string): boolean {
  const { generation } = metadata as { generation?: number };
  const isThis = spec.template.spec.containers.every(({ image }: { image: string }) => image.endsWith(`:${version}`));
  return (
    isThis &&
    status.observedGeneration === generation &&
    [status.updatedReplicas, status.availableReplicas, status.replicas].every((count) => count === spec.replicas)
  );
}
