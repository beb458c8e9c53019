import type { JsonObject, JsonValue } from '@bufbuild/protobuf';
import { withinCpuTime } from '@ticketing/testkit/machine-limits.ts';
import { describe, expect, it } from 'vitest';
import { maxSchemas, schemaViolations } from './parameter-schema.ts';

const violations = (schema: JsonObject) =>
  schemaViolations(schema, '#/parameters').map(
    ({ pointer, code }) => `${pointer.slice('#/parameters'.length)} ${code}`,
  );
const property = (schema: JsonValue): JsonObject => ({ type: 'object', properties: { a: schema } });

describe('the schema of the data of intents', () => {
  it.each<[string, JsonObject]>([
    ['nothing', {}],
    ['fields', { type: 'object', properties: { a: { type: 'string', maxLength: 10 } }, required: ['a'] }],
    [
      'names that are keywords elsewhere',
      property({ type: 'object', properties: { pattern: true, $ref: { type: 'null' } } }),
    ],
    [
      'values that look like keywords',
      property({ const: { $ref: '#' }, default: { pattern: '(a+)+$' }, enum: [{ $ref: 1 }] }),
    ],
    // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema
    ['conditions', { if: property(true), then: { required: ['b'] }, else: false, allOf: [{ not: property({}) }] }],
    ['lists', property({ type: 'array', prefixItems: [{}, true], items: false, uniqueItems: true, contains: {} })],
    ['a dialect', { $schema: 'https://json-schema.org/draft/2020-12/schema', additionalProperties: false }],
  ])('may have %s', (_, schema) => {
    expect(violations(schema)).toEqual([]);
  });

  it.each<[JsonObject, string]>([
    [property({ pattern: '(a+)+$' }), '/properties/a/pattern'],
    [property({ patternProperties: { '(a+)+$': true } }), '/properties/a/patternProperties'],
    [property({ $ref: 'https://example.com/schema' }), '/properties/a/$ref'],
    [{ allOf: [{ $dynamicRef: '#a' }] }, '/allOf/0/$dynamicRef'],
    [{ $defs: { a: {} } }, '/$defs'],
    [{ $id: 'https://json-schema.org/draft/2020-12/schema' }, '/$id'],
    [{ $anchor: 'a' }, '/$anchor'],
    [{ $vocabulary: {} }, '/$vocabulary'],
    [{ unevaluatedProperties: false }, '/unevaluatedProperties'],
    [{ typo: 1 }, '/typo'],
    [{ constructor: {} }, '/constructor'],
    [{ items: [{ $ref: '#' }] }, '/items'],
    [property(1), '/properties/a'],
    [property({ type: 'text' }), '/properties/a/type'],
    [property({ minLength: -1 }), '/properties/a/minLength'],
    [property({ required: ['a', 'a'] }), '/properties/a/required'],
    [{ properties: [] }, '/properties'],
    [{ type: 'string' }, '/type'],
    [{ $schema: 'http://json-schema.org/draft-07/schema#' }, '/$schema'],
    // guarantee: I18
  ])('cannot be %j', (schema, at) => {
    expect(violations(schema)).toEqual([`${at} invalid_schema`]);
  });

  it('has at most 500 schemas in it', () => {
    const schemas = (count: number) => ({ anyOf: Array.from({ length: count - 1 }, () => ({})) });
    expect(violations(schemas(maxSchemas))).toEqual([]);
    expect(violations(schemas(maxSchemas + 1))).toEqual([' too_complex']);
  });

  // guarantee: I18
  // asvs: 1.3.2
  it('is not run as code, whatever its names are', () => {
    const name = `x"]; globalThis.hasRun = true; //\u2028`;
    expect(violations({ properties: { [name]: { enum: [name], title: name } }, required: [name] })).toEqual([]);
    expect(globalThis).not.toHaveProperty('hasRun');
  });

  it.each<[string, JsonObject]>([
    ['enum', property({ enum: Array.from({ length: 15_000 }, () => [0]) })],
    ['required', { required: Array.from({ length: 8_000 }, (_, index) => `n${index}`) }],
    ['type', { type: 'object', properties: { a: { type: Array.from({ length: 6_000 }, () => 'null') } } }],
    ['unknown keywords', Object.fromEntries(Array.from({ length: 6_000 }, (_, index) => [`k${index}`, 0]))],
    ['properties', { properties: Object.fromEntries(Array.from({ length: 6_000 }, (_, index) => [`k${index}`, {}])) }],
    ['nested lists', nested(14)],
    // guarantee: I18
  ])('of 64 KiB is checked in a moment: %s', async (_, schema) => {
    // It takes some milliseconds; quadratic work would take seconds.
    await withinCpuTime(1000, () => schemaViolations(schema, '#'));
  });
});

function nested(levels: number): JsonObject {
  return levels === 0 ? {} : { not: { allOf: [nested(levels - 1), nested(Math.max(0, levels - 7))] } };
}
