import fc from 'fast-check';
import { expect, test } from 'vitest';
import { anyCharacter } from '../../test/arbitrary-text.ts';
import { isPortableJson, portabilityViolations } from './open-json.ts';

const found = (value: unknown, levels?: number) =>
  portabilityViolations(value, '#', levels).map(({ pointer, code }) => `${code} ${pointer}`);

test.each([
  [JSON.parse('{"a":[1e400,{"b":-1e400}]}'), ['out_of_range #/a/0', 'out_of_range #/a/1/b']],
  [{ 'x/y': '\ud800', z: ['\udc00a'] }, ['invalid_text #/x~1y', 'invalid_text #/z/0']],
  [{ '\ud800': 1 }, ['invalid_text #/\ud800']],
  ['\ud800', ['invalid_text #']],
])('names each part that JSON could not carry: %j', (value, expected) => {
  expect(isPortableJson(value)).toBe(false);
  expect(found(value)).toEqual(expected);
});

test('accepts nesting up to the levels given and not one more', () => {
  expect(isPortableJson([[1]], 2)).toBe(true);
  expect(isPortableJson([[[]]], 2)).toBe(false);
  expect(found({ a: [{}] }, 2)).toEqual(['too_deep #/a/0']);
  expect(isPortableJson(1, 0)).toBe(true);
});

test('reports violations if and only if a value is not portable', () => {
  const values = fc.anything({
    withNullPrototype: true,
    values: [fc.double(), fc.string({ unit: anyCharacter }), fc.boolean()],
  });
  fc.assert(
    fc.property(values, fc.nat(3), (value, levels) => {
      expect(found(value, levels).length > 0).toBe(!isPortableJson(value, levels));
    }),
  );
});

test('reports about a hundred violations at most', () => {
  expect(found(Array(5000).fill('\ud800')).length).toBe(100);
});
