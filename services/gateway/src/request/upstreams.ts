import { serviceNamed } from '@ticketing/system/services.ts';

/**
 * The services that the gateway forwards requests to. Their contracts determine the paths, the body limits and the
 * same-origin rules.
 */
export const upstreams = serviceNamed('gateway').calls.map(serviceNamed);
