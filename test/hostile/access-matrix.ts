import type { DescMethod } from '@bufbuild/protobuf';
import type { ServiceEntry } from '@ticketing/system/services.ts';

/** The methods of a service whose callers are tried. */
export interface MatrixPart {
  service: ServiceEntry;
  methods: readonly DescMethod[];
}

/** Every method of the contracts of all services: the rows of the matrix of who may call what. */
export function toMatrix(services: readonly ServiceEntry[]): MatrixPart[] {
  return services
    .filter(({ contracts }) => contracts.length > 0)
    .map((service) => ({ service, methods: service.contracts.flatMap(({ methods }) => methods) }));
}
