import type { JsonValue } from '@bufbuild/protobuf';
import type { OpenApiDocument, OpenApiOperation } from '@ticketing/rest/documents/openapi.ts';
import type { Schema } from '@ticketing/rest/documents/openapi-schema.ts';
import fc, { type Arbitrary } from 'fast-check';

/** A request that a test makes up for an operation. */
export interface FuzzRequest {
  /** The path with its query, ready to be sent. */
  path: string;
  headers: Record<string, string>;
  /** The bytes of the body; undefined for none. */
  body: string | undefined;
  /** Whether the caller is an administrator; otherwise somebody without rights. */
  isAdmin: boolean;
}

/** Texts and values that have broken servers. */
const hostileTexts = [
  '',
  ' ',
  '\0',
  'a\r\nb: c',
  '\ud800',
  '\u202e\u0000',
  '__proto__',
  'constructor',
  '../../etc/passwd',
  '%00',
  '{{constructor.constructor "return 1"}}',
  '<script>alert(1)</script>',
  '=1+1',
  '$where',
  '(a+)+$',
  "' or 1=1 --",
  '2026-02-30',
  '9999-12-31 23:59:59',
  '-1',
  '1e999',
  '2147483648',
  '9007199254740993',
  'x'.repeat(5_000),
];
const hostileValues: readonly JsonValue[] = [
  ...hostileTexts,
  null,
  true,
  -1,
  0,
  1.5,
  2_147_483_648,
  -9_007_199_254_740_991,
  1e308,
  [],
  {},
  [[[[]]]],
  [null],
  { $gt: '' },
  { $where: '1' },
  { length: 1e9 },
  { toString: null },
];

const hostileValue = fc.oneof(fc.constantFrom(...hostileValues), fc.jsonValue({ maxDepth: 3 }) as Arbitrary<JsonValue>);

interface Parameter {
  name: string;
  in: string;
  schema: Schema;
}

/** Requests for an operation: most nearly valid, some broken in one place, a few without any sense. */
export function requestsFor(
  document: OpenApiDocument,
  path: string,
  operation: OpenApiOperation,
): Arbitrary<FuzzRequest> {
  const values = toValues(document);
  const parameters = ((operation.parameters ?? []) as unknown as Parameter[]).map((one) => ({
    ...one,
    // A parameter that is JSON has the schema of its value.
    schema: (one.schema.contentSchema ?? one.schema) as Schema,
  }));
  const texts = (place: string) =>
    Object.fromEntries(
      parameters.filter((one) => one.in === place).map(({ name, schema }) => [name, parameterText(values(schema, 2))]),
    );
  const content = operation.requestBody?.content as Record<string, { schema: Schema }> | undefined;
  const schema = content?.['application/json']?.schema;
  return fc
    .record({
      path: fc.record(texts('path')),
      query: fc.oneof(
        { weight: 12, arbitrary: fc.record(texts('query'), { requiredKeys: [] }) },
        { weight: 1, arbitrary: fc.constant({ unknown: '1' }) },
      ),
      headers: headersFor(parameters.filter((one) => one.in === 'header').map(({ name }) => name)),
      body: schema ? bodyText(values(schema, 4)) : fc.option(fc.constant('{}'), { nil: undefined, freq: 20 }),
      isAdmin: fc.boolean().chain((isLikely) => (isLikely ? fc.constant(true) : fc.boolean())),
    })
    .map(({ path: filled, query, headers, body, isAdmin }) => ({
      path: `${toPath(path, filled)}${toQuery(query)}`,
      headers: body === undefined ? headers : { 'content-type': 'application/json', ...headers },
      body,
      isAdmin,
    }));
}

function toPath(template: string, values: Record<string, string>): string {
  return template.replaceAll(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(wellFormed(values[name] ?? '1')));
}

function toQuery(values: Record<string, string | undefined>): string {
  const given = Object.entries(values).flatMap(([name, value]) =>
    value === undefined ? [] : [`${encodeURIComponent(name)}=${encodeURIComponent(wellFormed(value))}`],
  );
  return given.length === 0 ? '' : `?${given.join('&')}`;
}

/** A URL cannot contain half of a surrogate pair. */
const wellFormed = (text: string) => text.toWellFormed();

function parameterText(value: Arbitrary<JsonValue>): Arbitrary<string> {
  const valid = value.map((one) => (typeof one === 'object' ? JSON.stringify(one) : String(one)));
  return fc.oneof({ weight: 15, arbitrary: valid }, { weight: 1, arbitrary: fc.constantFrom(...hostileTexts) });
}

const headerValues: Record<string, readonly string[]> = {
  'if-match': ['"1"', '"0"', 'W/"1"', '*', '"', '"99999999999"'],
  'idempotency-key': ['a', '"a b"', 'x'.repeat(256), '"', 'key-1'],
  prefer: ['respond-async', 'respond-async, wait=1', ';;'],
  range: ['bytes=0-0', 'bytes=5-1', 'bytes=-0', 'bytes=a-b', 'bytes=0-99999999999999'],
  'last-event-id': ['x', '1', 'x'.repeat(300)],
  accept: ['application/json', '*/*', 'text/html', 'application/json;q=0', 'nonsense'],
  'accept-language': ['de', '*;q=x'],
  'content-type': ['application/json; charset=latin1', 'text/plain', 'application/xml', 'application/json;', 'x'],
  'content-encoding': ['gzip', 'identity', 'nothing'],
  traceparent: ['00-0-0-0', 'x'],
};

/** A few headers, more often those that the operation lists. A stream of events would have no end, so none asks for one. */
function headersFor(listed: readonly string[]): Arbitrary<Record<string, string>> {
  const names = [...Object.keys(headerValues), ...listed.map((name) => name.toLowerCase())].filter(
    (name) => headerValues[name],
  );
  const header = fc
    .constantFrom(...names)
    .chain((name) => fc.tuple(fc.constant(name), fc.constantFrom(...(headerValues[name] ?? ['x']))));
  return fc
    .oneof({ weight: 6, arbitrary: fc.constant([]) }, { weight: 1, arbitrary: fc.array(header, { maxLength: 2 }) })
    .map((all) => Object.fromEntries(all));
}

function bodyText(value: Arbitrary<JsonValue>): Arbitrary<string | undefined> {
  const broken = value.chain((one) =>
    fc.tuple(fc.constant(one), fc.nat(), hostileValue).map(([whole, at, put]) => replaceOne(whole, at, put)),
  );
  const text = (all: Arbitrary<JsonValue>) => all.map((one) => JSON.stringify(one));
  return fc.oneof(
    { weight: 12, arbitrary: text(value) },
    { weight: 5, arbitrary: text(broken) },
    { weight: 1, arbitrary: text(hostileValue) },
    {
      weight: 1,
      arbitrary: fc.constantFrom('', '{', '[', '{"a":1,"a":2}', '{"__proto__":{"x":1}}', '\ufeff{}', 'null', '1e400'),
    },
    { weight: 1, arbitrary: fc.constantFrom('['.repeat(2_000), `{"x":${'['.repeat(60)}${']'.repeat(60)}}`) },
  );
}

/** The value with its nth part replaced, counted from the outside; an object may get the part under a new key. */
function replaceOne(value: JsonValue, nth: number, put: JsonValue): JsonValue {
  if (Array.isArray(value) && value.length > 0) {
    const at = nth % value.length;
    return value.with(at, replaceOne(value[at] ?? null, Math.floor(nth / value.length), put));
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return put;
  const keys = Object.keys(value);
  const key = keys[nth % (keys.length + 1)];
  if (key === undefined) return { ...value, [`key${nth % 3}`]: put };
  const rest = Math.floor(nth / (keys.length + 1));
  return { ...value, [key]: rest % 2 === 0 ? put : replaceOne(value[key] ?? null, rest >> 1, put) };
}

/** Makes arbitraries of the values that fit a schema, nearly: what the schema says in words is not kept. */
function toValues(document: OpenApiDocument): (schema: Schema, depth: number) => Arbitrary<JsonValue> {
  const values = (schema: Schema, depth: number): Arbitrary<JsonValue> => {
    if (typeof schema.$ref === 'string') {
      const name = schema.$ref.replace('#/components/schemas/', '');
      return values(document.components.schemas[name] ?? {}, depth);
    }
    if (Array.isArray(schema.enum)) return fc.constantFrom(...schema.enum);
    const among = (schema.anyOf ?? schema.oneOf) as Schema[] | undefined;
    if (among) return fc.oneof(...among.map((one) => values(one, depth)));
    const types = [schema.type].flat();
    return fc.oneof(...types.map((type) => ofType(String(type), schema, depth)));
  };
  const ofType = (type: string, schema: Schema, depth: number): Arbitrary<JsonValue> => {
    switch (type) {
      case 'null':
        return fc.constant(null);
      case 'boolean':
        return fc.boolean();
      case 'integer':
      case 'number':
        return numbers(schema);
      case 'string':
        return texts(schema);
      case 'array': {
        const { minItems: minLength = 0, maxItems = 3 } = schema as { minItems?: number; maxItems?: number };
        if (depth === 0) return fc.constant([]);
        const maxLength = Math.max(minLength, Math.min(maxItems, 3));
        return fc.array(values(schema.items as Schema, depth - 1), { minLength, maxLength });
      }
      case 'object':
        return objects(schema, depth);
      default:
        return fc.jsonValue({ maxDepth: 1 }) as Arbitrary<JsonValue>;
    }
  };
  const objects = (schema: Schema, depth: number): Arbitrary<JsonValue> => {
    const properties = (schema.properties ?? {}) as Record<string, Schema>;
    const required = (schema.required ?? []) as string[];
    const keys = Object.keys(properties).filter((key) => depth > 0 || required.includes(key));
    const members = Object.fromEntries(keys.map((key) => [key, values(properties[key] ?? {}, depth - 1)]));
    // Few keys at once, because one wrong one is enough to be refused.
    return fc
      .tuple(fc.subarray(keys, { maxLength: Math.min(keys.length, 4) }), fc.constant(required))
      .chain(([some, always]) =>
        fc.record(
          Object.fromEntries([...new Set([...always, ...some])].map((key) => [key, members[key] ?? fc.constant(1)])),
        ),
      ) as Arbitrary<JsonValue>;
  };
  return values;
}

function numbers({ minimum, maximum }: Schema): Arbitrary<JsonValue> {
  const min = typeof minimum === 'number' ? minimum : -2_147_483_648;
  const max = typeof maximum === 'number' ? maximum : 2_147_483_647;
  const small = { min, max: Math.max(min, Math.min(max, min < 0 ? 6 : min + 6)) };
  return fc.oneof({ weight: 4, arbitrary: fc.integer(small) }, { weight: 1, arbitrary: fc.constantFrom(min, max) });
}

function texts({ pattern, format, minLength = 0, maxLength = 20, examples }: Schema): Arbitrary<JsonValue> {
  if (typeof pattern === 'string') return fc.stringMatching(new RegExp(pattern));
  if (format === 'email') return fc.constantFrom('a@example.org', 'ada.lovelace@example.com');
  if (format === 'uri') return fc.constantFrom('https://example.org', 'https://example.com/a?b=c');
  if (format === 'uuid') return fc.uuid();
  const limits = {
    minLength: Number(minLength),
    maxLength: Math.max(Number(minLength), Math.min(Number(maxLength), 40)),
  };
  const some = fc.oneof(fc.string({ ...limits, unit: 'grapheme' }), fc.string(limits));
  return Array.isArray(examples) ? fc.oneof(fc.constantFrom(...(examples as string[])), some) : some;
}
