import { type ServiceEntry, services } from '@ticketing/system/services.ts';
import { type Manifest, podsOfRole } from './manifest.ts';
import { findResources } from './role-resources.ts';
import { podTemplate, toDeploymentName } from './service-manifests.ts';
import { derivedVariables } from './service-variables.ts';

const volume = 'ledger';
const file = '/ledger/ledger.jsonl';

/**
 * The objects that keep a ledger of deletions for each service: a CronJob that extends it, a suspended one from which a Job is
 * made that applies it to a restored database, and a volume.
 *
 * Source: docs/operations/backup.md, Ledger of deletions.
 */
export function ledgerJobs(): Manifest[] {
  return services
    .filter(({ hasStore }) => hasStore)
    .flatMap((entry) => [
      volumeClaim(entry.name),
      cronJob(entry, 'ledger', { schedule: '*/5 * * * *' }),
      // Kubernetes demands a schedule, which is never used.
      cronJob(entry, 'apply-ledger', { schedule: '0 0 1 1 *', suspend: true }),
    ]);
}

function volumeClaim(service: string): Manifest {
  return {
    apiVersion: 'v1',
    kind: 'PersistentVolumeClaim',
    metadata: { name: toDeploymentName(service, volume) },
    spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } },
  };
}

/** The component of the labels of its pods is the operation. */
function cronJob(entry: ServiceEntry, operation: string, spec: { schedule: string; suspend?: true }): Manifest {
  const labels = podsOfRole(entry.name, operation);
  const template = podTemplate(
    entry,
    labels,
    {
      args: [operation, file],
      env: derivedVariables(entry),
      resources: findResources(entry.name, 'relay'),
    },
    [{ name: volume, persistentVolumeClaim: { claimName: toDeploymentName(entry.name, volume) } }],
  );
  return {
    apiVersion: 'batch/v1',
    kind: 'CronJob',
    metadata: { name: toDeploymentName(entry.name, operation), labels },
    spec: { ...spec, jobTemplate: { metadata: { labels }, spec: { template } } },
  };
}
