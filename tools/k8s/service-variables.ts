import {
  consumedTopics,
  type Role,
  type ServiceEntry,
  serviceNamed,
  variableName,
} from '@ticketing/system/services.ts';

/** The port on which pods with the role `mail-receiver` receive mails. */
export const mailReceiverPort = 2525;

/** The port with the metrics and the probes. */
export function findInternalPort({ ports }: ServiceEntry): number {
  return ports.http + 2000;
}

/** The paths at which the pods of all services find their files. */
const files = {
  signingKey: '/keys/signing/key.json',
  internalKeys: '/keys/internal/jwks.json',
};

/** Whether a service publishes or consumes events. */
export function usesBus(entry: ServiceEntry): boolean {
  return entry.publishes.length + consumedTopics(entry).length > 0;
}

/** Whether a service has something to set up: indexes of its store, or topics. */
export function needsSetUp(entry: ServiceEntry): boolean {
  return entry.hasStore || usesBus(entry);
}

/** The name of the Service through which a service is called by RPC: a headless one, so that clients see every pod. */
export function toRpcService(service: string): string {
  return `${service}-rpc`;
}

/**
 * The ConfigMaps and Secrets whose entries become variables of a service. All have the prefix of the service put before
 * them, so that an operator writes what all services share once.
 */
export function sourcesOfVariables(entry: ServiceEntry) {
  const prefix = variableName(entry.name, '');
  const needsSecrets = entry.hasStore || entry.keepsSecrets;
  return [
    { prefix, configMapRef: { name: 'ticketing' } },
    ...(usesBus(entry) ? [{ prefix, configMapRef: { name: 'bus' } }] : []),
    ...(usesBus(entry) ? [{ prefix, secretRef: { name: 'bus-secrets', optional: true } }] : []),
    { prefix, configMapRef: { name: entry.name, optional: true } },
    { prefix, secretRef: { name: `${entry.name}-secrets`, ...(needsSecrets ? {} : { optional: true }) } },
  ];
}

/** The variables of a service that follow from the description of the system. */
export function derivedVariables(entry: ServiceEntry, role?: Role): { name: string; value: string }[] {
  const { name: service, ports, roles, calls } = entry;
  const called = calls.map((name) => {
    const { ports: its } = serviceNamed(name);
    // The gateway calls by REST; its URLs are in its ConfigMap, because they change with TLS.
    return ports.grpc === undefined ? undefined : [`${name.toUpperCase()}_TARGET`, `${toRpcService(name)}:${its.grpc}`];
  });
  const variables: (readonly string[] | undefined)[] = [
    role && roles.length > 1 ? ['ROLES', role] : undefined,
    ['SIGNING_KEY_FILE', files.signingKey],
    ports.grpc === undefined ? undefined : ['INTERNAL_JWKS_FILE', files.internalKeys],
    ...called,
    ...(role === 'mail-receiver'
      ? [
          ['MAIL_RECEIVER_HOST', '0.0.0.0'],
          ['MAIL_RECEIVER_PORT', String(mailReceiverPort)],
        ]
      : []),
  ];
  return variables.flatMap((one) => {
    const [name, value] = one ?? [];
    return name === undefined || value === undefined ? [] : [{ name: variableName(service, name), value }];
  });
}
