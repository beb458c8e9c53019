import type { Print } from '@ticketing/events/operations.ts';
import type { Environment } from '@ticketing/runtime/config-reader.ts';
import type { Service } from '@ticketing/service-kit/lifecycle/compose-service.ts';
import type { OperationRequest } from '@ticketing/service-kit/operations/operation-request.ts';
import { hasOperation } from '@ticketing/service-kit/operations/operations.ts';
import { services } from '@ticketing/system/services.ts';
import { UsageError } from '../cli/command.ts';

/** Loads the module of every service, in the order of the description of the system. */
export function loadServices(): Promise<Service[]> {
  return Promise.all(services.map(({ name }) => loadService(name)));
}

/** Loads the module of a service. */
export async function loadService(name: string): Promise<Service> {
  const { service } = (await import(`@ticketing/${name}/service.ts`)) as { service: Service };
  return service;
}

/**
 * Runs an operation in every service that has it, one after the other, or in one. Returns how much is left to be done in all
 * of them.
 *
 * Errors: UsageError, if the service that is named does not exist, or does not have the operation.
 */
export async function operateAll(
  request: OperationRequest,
  print: Print,
  environment: Environment,
  service?: string,
): Promise<number> {
  const able = services.filter((entry) => hasOperation(entry, request.name)).map(({ name }) => name);
  if (service !== undefined && !able.includes(service)) {
    throw new UsageError(`There is no operation ${request.name} of "${service}": ${able.join(', ')} have it.`);
  }
  let left = 0;
  for (const name of service === undefined ? able : [service]) {
    left += await (await loadService(name)).operate(request, print, environment);
  }
  return left;
}
