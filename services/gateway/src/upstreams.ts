import { serviceNamed } from '@ticketing/system/services.ts';

/** The services behind the gateway, with the contracts that they serve: paths, limits and rules follow from these. */
export const upstreams = serviceNamed('gateway').calls.map(serviceNamed);
