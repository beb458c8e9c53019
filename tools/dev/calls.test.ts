import { globSync, readFileSync } from 'node:fs';
import { services } from '@ticketing/system/services.ts';
import { expect, it } from 'vitest';

/** The services that the sources of a service open clients for. */
function openedIn(service: string): string[] {
  const sources = globSync(`services/${service}/src/**/*.ts`, { exclude: (name) => name.endsWith('.test.ts') });
  return sources.flatMap((file) =>
    [...readFileSync(file, 'utf8').matchAll(/\bopenClient\(\s*'(\w+)'/g)].map(([, name = '']) => name),
  );
}

// The gateway is left out: it calls all services that its entry names. The kit and the check "structure" ensure that a
// service calls no others; only this test ensures that an entry names none without need.
it.each(services.filter(({ ports }) => ports.grpc !== undefined))(
  // guarantee: C22
  '$name calls the services that its entry names',
  (entry) => {
    const { name, calls, readsSettings, keepsTicketData } = entry;
    const byKit = [
      ...(readsSettings ? ['settings'] : []),
      ...(keepsTicketData && calls.includes('tickets') ? ['tickets'] : []),
    ];
    expect([...new Set([...openedIn(name), ...byKit])].toSorted()).toEqual(calls.toSorted());
  },
);
