import { mergeOpenApi, openApiDocument } from '@ticketing/rest/documents/openapi.ts';
import { expect, test } from 'vitest';
import { upstreams } from '../request/upstreams.ts';
import { sessionPath } from '../session/routes.ts';
import { sessionDocument } from './session-openapi.ts';

test('the description of the session cookie can be merged with those of all services', () => {
  const info = { title: 'API', version: '1' };
  const parts = upstreams.map(({ contracts }) => {
    const served = contracts.map((service) => ({
      service,
      handlers: new Map(service.methods.map((method) => [method, null])),
    }));
    return openApiDocument({ ...info, served });
  });
  const { paths } = mergeOpenApi([sessionDocument(), ...parts], info);
  expect(Object.keys(paths)).toEqual(expect.arrayContaining([sessionPath, '/sessions', '/ticket/{ticketId}']));
});

// spec: 41.1
test('the interface has the version 1', () => {
  expect(sessionDocument().info.version).toBe('1');
});
