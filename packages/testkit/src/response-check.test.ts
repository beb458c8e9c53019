import type { OpenApiDocument } from '@ticketing/rest/documents/openapi.ts';
import { describe, expect, test } from 'vitest';
import { type ReceivedResponse, responseChecker } from './response-check.ts';

const problemSchema = {
  type: 'object',
  properties: { status: { type: 'integer' }, code: { type: 'string' }, errors: { type: 'array', items: {} } },
  required: ['status', 'code'],
};
const document: OpenApiDocument = {
  openapi: '3.1.0',
  info: { title: 'Animals', version: '1', license: { name: 'MIT', identifier: 'MIT' } },
  servers: [],
  security: [],
  tags: [],
  paths: {
    '/animal/{id}': {
      get: {
        operationId: 'getAnimal',
        'x-problem-codes': ['no_such_animal'],
        tags: [],
        summary: '',
        responses: {
          200: {
            headers: {
              ETag: { required: true, schema: { type: 'string', pattern: '^"\\d+"$' } },
              'X-Total-Count': { schema: { type: 'integer', minimum: 0 } },
            },
            content: { 'application/json': { schema: { $ref: '#/components/schemas/Animal' } } },
          },
          404: { $ref: '#/components/responses/NotFound' },
        },
      },
    },
    '/animal/search': {
      post: {
        operationId: 'searchAnimals',
        tags: [],
        summary: '',
        responses: {
          200: {
            content: {
              'application/json': { schema: { type: 'array', items: { $ref: '#/components/schemas/Summary' } } },
              'text/csv': { schema: { type: 'string' } },
            },
          },
        },
      },
    },
  },
  components: {
    schemas: {
      Problem: problemSchema,
      Summary: { type: 'object', properties: { id: { type: 'integer', format: 'int32' } }, required: ['id'] },
      Animal: {
        allOf: [
          { $ref: '#/components/schemas/Summary' },
          {
            type: 'object',
            properties: {
              parent: {
                anyOf: [{ $ref: '#/components/schemas/Summary' }, { type: 'null' }],
                description: 'The mother of the animal.',
              },
              data: { type: 'object', additionalProperties: true },
              anything: {},
              bornAt: { type: 'string', format: 'date-time', examples: ['2026-01-31T09:10:00Z'] },
            },
            required: ['parent'],
          },
        ],
      },
    },
    responses: {
      NotFound: {
        'x-problem-codes': ['x'],
        content: { 'application/problem+json': { schema: { $ref: '#/components/schemas/Problem' } } },
      },
    },
    securitySchemes: {},
  },
};
const check = responseChecker(document);

type Changes = Partial<Omit<ReceivedResponse, 'headers' | 'body'>> & {
  headers?: Record<string, string>;
  body?: unknown;
};

/** Checks a response to `GET /animal/1` that is as documented except for the given changes. */
function checkChanged({ headers = {}, body = { id: 1, parent: null }, ...rest }: Changes): void {
  const text = typeof body === 'string' ? body : JSON.stringify(body);
  check({
    method: 'GET',
    path: '/animal/1',
    status: 200,
    headers: new Headers({ 'content-type': 'application/json; charset=utf-8', etag: '"1"', ...headers }),
    body: Buffer.from(text),
    ...rest,
  });
}

function problem(status: number, changes: Changes = {}): Changes {
  const headers = { 'content-type': 'application/problem+json', ...changes.headers };
  return { status, body: { status, code: 'x' }, ...changes, headers };
}

describe('accepts', () => {
  test.each<[string, Changes]>([
    ['a response as documented', {}],
    ['a path with a query and escapes', { path: '/%61nimal/1?x=/' }],
    [
      'a nested object, an open one and any value',
      { body: { id: 1, parent: { id: 2 }, data: { a: 1 }, anything: { b: 2 } } },
    ],
    ['a listed problem', problem(404)],
    ['a problem whose code the operation lists', problem(404, { body: { status: 404, code: 'no_such_animal' } })],
    ['a header that fits its schema', { headers: { 'x-total-count': '3' } }],
    ['HEAD with the headers of GET and no body', { method: 'HEAD', body: '' }],
    [
      'any of the listed media types',
      { method: 'POST', path: '/animal/search', headers: { 'content-type': 'text/csv' }, body: 'a' },
    ],
    ['404 for an unknown path', problem(404, { path: '/plant' })],
    ['405 for an unknown method of a known path', problem(405, { method: 'PUT', headers: { allow: 'GET, HEAD' } })],
    ['401 for an unknown path', problem(401, { path: '/plant' })],
    ['408 for any operation', problem(408)],
    [
      'a page that is not part of the API',
      { path: '/docs/static/logo.svg', body: '<svg>', headers: { 'content-type': 'image/svg+xml' } },
    ],
  ])('%s', (_, changes) => {
    expect(() => checkChanged(changes)).not.toThrow();
  });
});

describe('refuses', () => {
  test.each<[string, Changes, string]>([
    ['a status that is not listed', problem(409), 'the status is not listed; listed are 200, 404'],
    ['a value of another type', { body: { id: '1', parent: null } }, '#/id must be integer, but is "1"'],
    ['a value of another format', { body: { id: 1, parent: null, bornAt: 'today' } }, 'must match format "date-time"'],
    ['a missing key', { body: { id: 1 } }, "must have required property 'parent'"],
    [
      'a key that is not listed',
      { body: { id: 1, parent: null, x: 1 } },
      // asvs: 4.1.1, 15.3.1
      'the value has the key x, which is not listed',
    ],
    [
      'such a key in a nested object',
      { body: { id: 1, parent: { id: 2, x: 1 } } },
      '#/parent has the key x, which is not listed',
    ],
    ['such a key in a list', { method: 'POST', path: '/animal/search', body: [{ id: 1, x: 1 }] }, '#/0 has the key x'],
    ['such a key in a problem', problem(404, { body: { status: 404, code: 'x', y: 1 } }), 'has the key y'],
    ['a body that is not JSON', { body: '{' }, 'the body is not JSON'],
    [
      'an empty file',
      { method: 'POST', path: '/animal/search', headers: { 'content-type': 'text/csv' }, body: '' },
      'is empty',
    ],
    [
      'another media type',
      { headers: { 'content-type': 'text/html' } },
      'the media type is text/html; listed are application/json',
    ],
    ['a problem as plain JSON', { ...problem(404), headers: {} }, 'the media type is application/json'],
    [
      'a problem document with another status',
      problem(404, { body: { status: 400, code: 'x' } }),
      'the problem document has the status 400',
    ],
    [
      'a problem with a code that is not listed',
      problem(404, { body: { status: 404, code: 'y' } }),
      'the code y is not listed',
    ],
    [
      'a problem with an invalid part whose code is not listed',
      problem(404, { body: { status: 404, code: 'x', errors: [{ code: 'x' }, { code: 'z' }] } }),
      'the code z is not listed',
    ],
    ['a missing header', { headers: { etag: '' } }, 'the header ETag'],
    ['a header that does not fit its pattern', { headers: { etag: 'W/"1"' } }, 'the header ETag (W/"1")'],
    ['a header that is not a number', { headers: { 'x-total-count': 'many' } }, 'the header X-Total-Count (many)'],
    ['an empty header where a number is expected', { headers: { 'x-total-count': '' } }, 'the header X-Total-Count ()'],
    ['a body with HEAD', { method: 'HEAD' }, 'the body is not empty'],
    ['a success for an unknown path', { path: '/plant' }, 'the status is not 404, although no operation has this path'],
    ['405 for an unknown path', problem(405, { path: '/plant', headers: { allow: 'GET' } }), 'the status is not 404'],
    [
      '404 for an unknown method of a known path',
      problem(404, { method: 'PUT' }),
      'the status is not 405, although the path has other methods only',
    ],
    ['405 without Allow', problem(405, { method: 'PUT' }), 'the header Allow is missing'],
    [
      '405 with another Allow',
      problem(405, { method: 'PUT', headers: { allow: 'GET' } }),
      'Allow is GET, but the path has GET, HEAD',
    ],
    [
      '405 with the methods of another path that fits',
      problem(405, { path: '/animal/search', headers: { allow: 'GET, HEAD' } }),
      'has POST',
    ],
    [
      '405 without a problem document',
      { status: 405, method: 'PUT', headers: { allow: 'GET, HEAD' } },
      'the media type is',
    ],
    [
      '405 without Allow for a page that is not part of the API',
      problem(405, { path: '/healthz', method: 'PUT' }),
      'the header Allow is missing',
    ],
  ])('%s', (_, changes, difference) => {
    expect(() => checkChanged(changes)).toThrow(difference);
  });

  test('a response without a required header', () => {
    const headers = new Headers({ 'content-type': 'application/json' });
    const body = Buffer.from('{"id":1,"parent":null}');
    expect(() => check({ method: 'GET', path: '/animal/1', status: 200, headers, body })).toThrow(
      'the header ETag is missing',
    );
  });

  test('all differences at once, in a message with the request and the body', () => {
    expect(() => checkChanged({ path: '/animal/1?a=b', headers: { etag: '1' }, body: { id: null, x: 1 } })).toThrow(
      [
        'GET /animal/1?a=b responds with 200, which differs from the OpenAPI document:',
        '- the header ETag (1): the value must match pattern "^"\\d+"$", but is "1"',
        '- #/id must be integer, but is null',
        '- the value must have required property \'parent\', but is {"id":null,"x":1}',
        '- the value has the key x, which is not listed',
        'body: {"id":null,"x":1}',
      ].join('\n'),
    );
  });
});

test('refuses a document with a reference to a missing component', () => {
  const broken = structuredClone(document);
  delete broken.components.responses.NotFound;
  expect(() => responseChecker(broken)).toThrow('#/components/responses/NotFound');
});
