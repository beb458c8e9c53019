import { consumedTopics, type ServiceEntry, services, variableName } from '@ticketing/system/services.ts';
import type { Manifest } from './manifest.ts';
import { toDeploymentName } from './service-manifests.ts';

/** How many events may wait for each replica before there is another one. */
const lagPerReplica = 500;

/** The services with a role that consumes events. */
const consumers = services.filter((entry) => entry.roles.includes('consumer') && consumedTopics(entry).length > 0);

/** The objects of KEDA that scale the role `consumer` of each service by the lag of its consumer group. */
export function scaledObjects(): Manifest[] {
  return consumers.map((entry) => ({
    apiVersion: 'keda.sh/v1alpha1',
    kind: 'ScaledObject',
    metadata: { name: toDeploymentName(entry.name, 'consumer') },
    spec: {
      scaleTargetRef: { name: toDeploymentName(entry.name, 'consumer') },
      minReplicaCount: 2,
      maxReplicaCount: mostReplicas(entry),
      cooldownPeriod: 300,
      triggers: consumedTopics(entry).map(({ name }) => ({
        type: 'kafka',
        metadata: {
          bootstrapServersFromEnv: variableName(entry.name, 'KAFKA_BROKERS'),
          consumerGroup: entry.name,
          topic: name,
          lagThreshold: String(lagPerReplica),
          offsetResetPolicy: 'earliest',
        },
        authenticationRef: { name: 'bus' },
      })),
    },
  }));
}

/** A replica without a partition of any topic would do nothing. */
function mostReplicas(entry: ServiceEntry): number {
  return Math.max(2, ...consumedTopics(entry).map(({ partitions }) => partitions));
}
