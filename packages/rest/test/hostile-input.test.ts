import type { DescMethod } from '@bufbuild/protobuf';
import { TagService } from '@ticketing/contracts/ticketing/tickets/v1/tag_service_pb.ts';
import { TicketService } from '@ticketing/contracts/ticketing/tickets/v1/ticket_service_pb.ts';
import { withinCpuTime } from '@ticketing/testkit/machine-limits.ts';
import fc from 'fast-check';
import type { InjectOptions } from 'fastify';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { messageEncoder } from '../src/codec/encode.ts';
import { readRestRule } from '../src/codec/options.ts';
import { toBinding } from '../src/routes/request-reader.ts';
import { arbitraryJson, arbitraryMessage } from './arbitrary-message.ts';
import { anyCharacter } from './arbitrary-text.ts';
import { type StubRestApi, stubRestApi } from './stub-rest-api.ts';

interface Route {
  method: DescMethod;
  verb: string;
  path: string;
  query: string[];
  body: string[] | '[]' | undefined;
}

const routes: Route[] = [...TicketService.methods, ...TagService.methods].flatMap((method) => {
  const rule = readRestRule(method);
  if (!rule) return [];
  const { path, query, body } = toBinding(method, rule);
  const elsewhere = [...path, ...query];
  const members = method.input.fields.filter((field) => !elsewhere.includes(field)).map((field) => field.jsonName);
  return {
    method,
    verb: rule.method,
    path: rule.path,
    query: query.map((field) => field.jsonName),
    body: body === '*' ? members : body && '[]',
  };
});

let api: StubRestApi;
beforeAll(async () => {
  api = await stubRestApi();
});
afterAll(() => api.app.close());

const nasty = fc.constantFrom(
  '0',
  '-1',
  '01',
  '1.0',
  '2147483648',
  '1e400',
  'NaN',
  'null',
  'true',
  '',
  ' ',
  '/',
  '..',
  '%',
  '%zz',
  '%00',
  '%ff',
  '%2f',
  '__proto__',
  'constructor',
  '[]',
  '[0]',
  '[a]',
  '[[',
  ']]',
  '&',
  '=',
  '+',
  ';',
  '?',
  '#',
  "'",
  '"',
  '\\',
  '<',
  'ä',
  '\u0000',
);
const text = fc
  .array(fc.oneof(nasty, fc.string({ unit: anyCharacter, maxLength: 6 })), { maxLength: 4 })
  .map((parts) => parts.join(''));
const escaped = fc.oneof(
  text.map(encodeURIComponent),
  fc.stringMatching(/^[!$-;=?-~]{0,12}$/),
  fc.constantFrom('1', '7', 'abcd1234'),
);

const toQuery = (route: Route) => {
  const name = fc.oneof(fc.constantFrom(...route.query, 'filters[0][key]', '__proto__[a]', 'a[b][c]'), escaped);
  const pair = fc.tuple(name, fc.oneof(escaped, fc.constant(undefined)));
  return fc
    .array(pair, { maxLength: 4 })
    .map((pairs) => pairs.map(([key, value]) => (value === undefined ? key : `${key}=${value}`)).join('&'));
};

const id = fc.oneof({ weight: 3, arbitrary: fc.constant('good') }, { weight: 1, arbitrary: escaped });
const toUrl = (route: Route, given = id, query = fc.oneof(fc.constant(''), toQuery(route))) =>
  fc.tuple(given, given, query).map(([first, second, query]) => {
    const ids = [first, second];
    const path = route.path.replace(/\{(\w+)\}/g, (_, name: string) => {
      const given = ids.shift() ?? 'good';
      return given === 'good' ? (name === 'attachment_id' ? 'abcd1234' : '7') : given;
    });
    return query === '' ? path : `${path}?${query}`;
  });

/** For each route whose body is an object: a body that it accepts. */
const accepted: Record<string, unknown> = {
  'POST /ticket': { channel: 'email' },
  'POST /ticket/bulk': { tickets: [{ channel: 'email' }] },
  'POST /tag': { name: 'Tag' },
  'PATCH /ticket': [{ id: 1 }],
};

/** JSON that is similar to what the route accepts. */
const toJson = (route: Route): fc.Arbitrary<unknown> => {
  const names = Array.isArray(route.body) ? route.body : ['id', 'version', 'status', 'tagIds', 'dueBy'];
  const value = fc.oneof(
    arbitraryJson,
    fc.constantFrom<unknown>(
      null,
      0,
      -1,
      1,
      2 ** 31,
      '2024-02-30',
      '2024-02-29',
      'open',
      'email',
      '',
      [],
      {},
      [null],
      [{}],
      [1, 1],
    ),
  );
  const near = fc.dictionary(fc.oneof(fc.constantFrom(...names), fc.constantFrom('id', 'x', 'a/b', '~')), value, {
    maxKeys: 6,
  });
  const written = arbitraryMessage(route.method.input).map((message) => {
    const { updateMask: _, ...json } = messageEncoder(route.method.input)(message);
    return Array.isArray(route.body) ? json : (json.tickets ?? json);
  });
  return fc.oneof(near, fc.array(near, { maxLength: 4 }), arbitraryJson, written);
};

const acceptedBody = (route: Route): fc.Arbitrary<Buffer> =>
  fc.constant(Buffer.from(JSON.stringify(accepted[`${route.verb} ${route.path}`] ?? {})));
const toBody = (route: Route): fc.Arbitrary<Buffer> =>
  fc.oneof(
    { weight: 1, arbitrary: acceptedBody(route) },
    { weight: 6, arbitrary: toJson(route).map((json) => Buffer.from(JSON.stringify(json))) },
    { weight: 1, arbitrary: fc.constant(Buffer.alloc(0)) },
    { weight: 1, arbitrary: fc.uint8Array({ maxLength: 60 }).map((bytes) => Buffer.from(bytes)) },
    {
      weight: 1,
      arbitrary: fc
        .array(fc.constantFrom('{', '}', '[', ']', '"a"', ':', ',', '1', ' '))
        .map((parts) => Buffer.from(parts.join(''))),
    },
    { weight: 1, arbitrary: toJson(route).map((json) => Buffer.from(JSON.stringify(json).replaceAll('1', '1e999'))) },
  );

const headerText = fc.stringMatching(/^[ -~]{0,30}$/);
const headers = fc.record(
  {
    'content-type': fc.oneof(
      { weight: 8, arbitrary: fc.constant('application/json') },
      { weight: 1, arbitrary: fc.constantFrom('application/json; charset=utf-16', 'text/plain', ';', 'a/b/c') },
      { weight: 1, arbitrary: headerText },
    ),
    'if-match': headerText,
    accept: headerText,
    'content-encoding': fc.constantFrom('gzip', 'br', 'identity'),
    'x-anything': headerText,
  },
  { requiredKeys: ['content-type'] },
);

/** Whether a pointer of a problem document refers to a part of the request. */
function pointsIntoRequest(pointer: string, code: string, url: string, body: Buffer): boolean {
  if (pointer === '#') return true;
  if (!pointer.startsWith('#/')) return false;
  const steps = pointer
    .slice(2)
    .split('/')
    .map((step) => step.replaceAll('~1', '/').replaceAll('~0', '~'));
  if (steps[0] === 'path' || steps[0] === 'query') return url.length > 1;
  // A list that is missing has too few items.
  if (code === 'required' || code === 'too_few_items') steps.pop();
  let value: unknown = JSON.parse(body.length === 0 ? '{}' : body.toString());
  for (const step of steps) {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, step)) return false;
    value = (value as Record<string, unknown>)[step];
  }
  return true;
}

async function check(options: InjectOptions & { url: string }, body: Buffer): Promise<number> {
  const response = await api.app.inject(options);
  expect(response.statusCode).toBeLessThan(500);
  expect(api.reported).toEqual([]);
  if (options.method === 'HEAD') return response.statusCode;
  const problem = response.json();
  if (response.statusCode >= 400) {
    expect(response.headers['content-type']).toMatch(/^application\/problem\+json/);
    expect(problem).toMatchObject({ status: response.statusCode, success: false, traceId: 'trace-1' });
    expect(problem.type).toBe(`urn:ticketing:problem:${problem.code}`);
    expect(problem.code).toMatch(/^[a-z_]+$/);
    for (const { pointer, code, detail } of problem.errors ?? []) {
      expect([pointer, code, detail].every((part) => typeof part === 'string')).toBe(true);
      expect([pointer, pointsIntoRequest(pointer, code, options.url, body)]).toEqual([pointer, true]);
    }
  }
  return response.statusCode;
}

test.each(routes.map((route) => [`${route.verb} ${route.path}`, route] as const))(
  // asvs: 1.5.2
  'responds to anything sent to %s with a success or a problem document, never with 5xx',
  async (_, route) => {
    const json = fc.constant({ 'content-type': 'application/json' });
    const good = { url: toUrl(route, fc.constant('good'), fc.constant('')), headers: json, body: acceptedBody(route) };
    const request = fc.oneof(
      { weight: 1, arbitrary: fc.record(good) },
      { weight: 6, arbitrary: fc.record({ url: toUrl(route), headers, body: toBody(route) }) },
    );
    await fc.assert(
      fc.asyncProperty(request, async ({ url, headers, body }) => {
        const payload = route.body === undefined ? {} : { payload: body };
        await check({ method: route.verb as 'POST', url, headers, ...payload }, body);
      }),
      { numRuns: 150 },
    );
  },
);

test('the generated requests reach every handler', () => {
  expect(new Set(api.requests.map((request) => request.$typeName)).size).toBe(routes.length);
});

test('responds to any verb on any path', async () => {
  const verb = fc.constantFrom('GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS');
  // `inject` would interpret a second slash as the start of a host.
  const part = escaped.filter((text) => !/^[/\\]/.test(text));
  const path = fc.oneof(part, fc.constantFrom('ticket', 'tag', 'ticket/search', 'ticket/1')).map((text) => `/${text}`);
  await fc.assert(
    fc.asyncProperty(verb, path, async (method, url) => {
      await check({ method: method as 'GET', url }, Buffer.from('null'));
    }),
    { numRuns: 300 },
  );
});

const size = 50_000;
const repeat = (part: string, of = size) => part.repeat(Math.floor(of / part.length));
const members = Array.from({ length: 5000 }, (_, index) => `"k${index}":1`).join();
const hostile: [string, string][] = [
  ['deep lists', repeat('[', size / 2) + repeat(']', size / 2)],
  ['deep objects', `${repeat('{"a":', 41_000)}1${repeat('}', 8200)}`],
  ['deep lists in open data', `{"channel":"email","rawData":{"a":${repeat('[', 24_000)}${repeat(']', 24_000)}}}`],
  [
    'deep objects in a filter',
    `{"filters":[{"key":"a","comparator":"=","value":${repeat('{"a":', 40_000)}1${repeat('}', 8000)}}]}`,
  ],
  [
    'nesting at the limit, again and again',
    `{"channel":"email","rawData":{"a":[${Array(700)
      .fill(`${'['.repeat(30)}${']'.repeat(30)}`)
      .join()}]}}`,
  ],
  ['many keys', `{${members}}`],
  ['many keys in open data', `{"channel":"email","rawData":{${members}}}`],
  ['one key again and again', `{${repeat('"a":1,')}"a":1}`],
  ['one known key again and again', `{${repeat('"tags":[1],')}"tags":[1]}`],
  ['keys of slashes', `{"${repeat('/')}":1,"${repeat('~', 1000)}":1}`],
  ['keys of numbers', `{${Array.from({ length: 5000 }, (_, index) => `"${4_294_967_290 - index}":1`).join()}}`],
  [
    'keys with one hash',
    `{${Array.from({ length: 4000 }, (_, index) => `"${'\\u0000'.repeat(index % 2)}${index}":1`).join()}}`,
  ],
  ['a huge number', `{"limit":${repeat('9')}}`],
  ['a long fraction', `{"limit":0.${repeat('9')}}`],
  ['a huge exponent', `{"limit":1e${repeat('9')}}`],
  ['a long list of numbers', `{"tags":[${repeat('1,')}1]}`],
  ['a long list of bad ids', `[{"id":1,"tagIds":[${repeat('0,', 900)}0]},${repeat('{"id":0},')}{}]`],
  ['a long list of nothing', `[${repeat('null,')}null]`],
  ['a long list of empty changes', `[${Array(499).fill('{"status":"x","nope":1,"tagIds":[0,0,"",null]}').join()}]`],
  ['a long date', `{"dueBy":"2024-01-01T00:00:00.${repeat('0')}"}`],
  ['a long enum', `{"status":"${repeat('open')}"}`],
  ['a long text', `{"contractId":"${repeat('\\ud83d\\ude00')}"}`],
  ['halves of surrogate pairs', `{"channel":"email","rawData":{"a":[${repeat('"\\ud800",')}1]}}`],
  ['addresses', `{"to":["${repeat('a@')}","${repeat('a.')}@"]}`],
  ['white space', `${repeat(' ')}{}${repeat('\n')}`],
  ['an open string', `"${repeat('\\')}`],
  ['escapes', `{"${repeat('\\u0061')}":"${repeat('\\"')}"}`],
];

const writing = routes.filter((route) => route.body !== undefined);

// guarantee: I37
test.each(hostile)('responds to 50 KB of %s within a second on every route', async (_, payload) => {
  for (const route of writing) {
    const url = route.path.replace(/\{\w+\}/g, '1');
    const headers = { 'content-type': 'application/json' };
    const response = await withinCpuTime(1000, () =>
      api.app.inject({ method: route.verb as 'POST', url, headers, payload }),
    );
    expect(response.statusCode).toBeLessThan(500);
    expect(response.json()).toBeTypeOf('object');
    expect(response.json()?.errors?.length ?? 0).toBeLessThanOrEqual(100);
  }
});

test.each([
  ['many parameters', repeat('a=1&')],
  ['many names', Array.from({ length: 999 }, (_, index) => `n${index}=1`).join('&')],
  ['open brackets', repeat('[')],
  ['pairs of brackets', `a${repeat('[]')}=1`],
  ['deep names', `a${repeat('[b]')}=1`],
  ['many filters', Array.from({ length: 990 }, (_, index) => `filters[${index}][key]=a`).join('&')],
  ['one list', repeat('filters[]=1&', 11_000)],
  ['a far index', 'filters[4294967294][key]=1'],
  ['a long number', `limit=${repeat('9')}`],
  ['a long value', `q=${repeat('%20')}`],
  ['ampersands', repeat('&')],
  ['equal signs', `q${repeat('=')}`],
])('responds to a query of 50 KB of %s within a second', async (_, query) => {
  for (const path of ['/tag', '/ticket/1', '/ticket/1/history']) {
    const url = `${path}?${query}`;
    const status = await withinCpuTime(1000, () => check({ method: 'GET', url }, Buffer.from('null')));
    expect(status).toBeLessThan(500);
  }
});
