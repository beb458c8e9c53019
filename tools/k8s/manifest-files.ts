import { services } from '@ticketing/system/services.ts';
import { stringify } from 'yaml';
import { ledgerJobs } from './ledger-jobs.ts';
import type { Manifest } from './manifest.ts';
import { issuerPolicy } from './network-policies.ts';
import { scaledObjects } from './scaled-objects.ts';
import { toManifests } from './service-manifests.ts';

const notice = '# Generated from packages/system/src/services.ts by npm run generate; do not edit.\n';

/** The files of deploy/k8s that are generated: their paths, and their texts. Source: docs/decisions/0052-manifests-from-the-description.md. */
export function manifestFiles(): ReadonlyMap<string, string> {
  return new Map([
    ...services.map((entry) => [`deploy/k8s/base/${entry.name}.yaml`, renderYaml(toManifests(entry))] as const),
    ['deploy/k8s/components/keda/scaled-objects.yaml', renderYaml(scaledObjects())],
    ['deploy/k8s/components/issuer-url/policy.yaml', renderYaml([issuerPolicy()])],
    ['deploy/k8s/components/ledger/ledger-jobs.yaml', renderYaml(ledgerJobs())],
  ]);
}

function renderYaml(manifests: readonly Manifest[]): string {
  const options = { aliasDuplicateObjects: false, lineWidth: 0 };
  return notice + manifests.map((manifest) => `---\n${stringify(manifest, options)}`).join('');
}
