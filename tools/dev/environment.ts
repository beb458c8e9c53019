import type { Environment } from '@ticketing/runtime/config-reader.ts';
import { type ServiceEntry, services, variableName } from '@ticketing/system/services.ts';
import type { DevelopmentCertificates } from '@ticketing/testkit/development-certificates.ts';
import type { DevelopmentKeys } from '@ticketing/testkit/development-keys.ts';
import { type BusAddress, serviceVariables } from '@ticketing/testkit/service-variables.ts';
import { findPorts, type SystemPorts } from './ports.ts';

/** The values from which the variables of a development system are derived. */
export interface SystemLayout {
  ports: SystemPorts;
  keys: DevelopmentKeys;
  /** For TLS between all services; undefined for none. */
  certificates?: DevelopmentCertificates | undefined;
  mongodbUri: string;
  logLevel: string;
}

/** Matches the variables with addresses and ports, which the development system always sets itself. */
const addressPattern = /_(HOST|(HTTP|GRPC|INTERNAL)_PORT|URL|TARGET)$/;

/** The variables of all services. A given variable overrides a derived one, unless it is an address or a port. */
export function systemEnvironment(layout: SystemLayout, given: Environment): Environment {
  const { ports, mongodbUri } = layout;
  const bus: BusAddress = given.KAFKA_BROKERS
    ? { kind: 'kafka', brokers: given.KAFKA_BROKERS }
    : { kind: 'log', mongodbUri };
  const derived = services.flatMap((entry) => {
    const variables = serviceVariables(entry, {
      ...layout,
      ports: findPorts(ports, entry.name),
      calledPorts: (name) => findPorts(ports, name),
      bus,
    });
    return Object.entries(variables).filter(
      ([name]) => !isOtherBus(entry, name, given) && !isOtherMail(entry, name, given),
    );
  });
  return {
    ...Object.fromEntries(derived),
    ...given,
    ...Object.fromEntries(derived.filter(([name]) => addressPattern.test(name))),
  };
}

/** Whether a derived variable names a folder for mails although a mail server is given. */
function isOtherMail({ name: service }: ServiceEntry, name: string, given: Environment): boolean {
  return name === variableName(service, 'MAIL_FOLDER') && Boolean(given[variableName(service, 'SMTP_URL')]);
}

/** Whether a derived variable names a bus for a service whose bus is given already: a service has exactly one bus. */
function isOtherBus({ name: service }: ServiceEntry, name: string, given: Environment): boolean {
  const namesBus = ['KAFKA_BROKERS', 'EVENT_LOG_MONGODB_URI'].map((one) => variableName(service, one));
  const isAboutBus = [...namesBus, variableName(service, 'KAFKA_REPLICAS')].includes(name);
  return isAboutBus && namesBus.some((one) => given[one]);
}
