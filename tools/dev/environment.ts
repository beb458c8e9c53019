import type { Environment } from '@ticketing/runtime/config-reader.ts';
import { type ServiceEntry, services, variableOf } from '@ticketing/system/services.ts';
import type { DevelopmentKeys } from '@ticketing/testkit/development-keys.ts';
import { type BusAddress, serviceVariables } from '@ticketing/testkit/service-variables.ts';
import { portsOf, type SystemPorts } from './ports.ts';

/** What the variables of a development system follow from. */
export interface SystemLayout {
  ports: SystemPorts;
  keys: DevelopmentKeys;
  mongodbUri: string;
  logLevel: string;
}

/** What a system says of its addresses, whatever else is given. */
const addresses = /_(HOST|(HTTP|GRPC|INTERNAL)_PORT|URL|TARGET)$/;

/** The variables of all services; one that is given already wins, but for the addresses of the services. */
export function systemEnvironment(layout: SystemLayout, given: Environment): Environment {
  const { ports, mongodbUri } = layout;
  const bus: BusAddress = given.KAFKA_BROKERS
    ? { kind: 'kafka', brokers: given.KAFKA_BROKERS }
    : { kind: 'log', mongodbUri };
  const own = services.flatMap((entry) => {
    const variables = serviceVariables(entry, {
      ...layout,
      ports: portsOf(ports, entry.name),
      calledPorts: (name) => portsOf(ports, name),
      bus,
    });
    return Object.entries(variables).filter(([name]) => !isOtherBus(entry, name, given));
  });
  return { ...Object.fromEntries(own), ...given, ...Object.fromEntries(own.filter(([name]) => addresses.test(name))) };
}

/** Where the bus of a service is given, nothing else is said of one. */
function isOtherBus({ name: service }: ServiceEntry, name: string, given: Environment): boolean {
  const names = ['KAFKA_BROKERS', 'KAFKA_REPLICAS', 'EVENT_LOG_MONGODB_URI'].map((one) => variableOf(service, one));
  return names.includes(name) && names.some((one) => one !== names[1] && given[one]);
}
