import manifest from '../package.json' with { type: 'json' };

/** The version of the system: all services are released together. */
export const systemVersion: string = manifest.version;
