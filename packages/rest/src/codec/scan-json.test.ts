import { withinCpuTime } from '@ticketing/testkit/machine-limits.ts';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { anyCharacter } from '../../test/arbitrary-text.ts';
import { escapePointer, scanJson } from './scan-json.ts';

const found = (text: string, maxDepth = 64) => {
  JSON.parse(text);
  return scanJson(text, maxDepth).map(({ pointer, code }) => `${code} ${pointer}`);
};

test.each([
  ['{"a":1,"a":2}', ['duplicate_key #/a']],
  ['{"a":1,"\\u0061":2}', ['duplicate_key #/a']],
  ['{"":1,"":2}', ['duplicate_key #/']],
  ['{"a":1,"b":{"a":1,"c":{"a":1,"a":2}},"a":3}', ['duplicate_key #/b/c/a', 'duplicate_key #/a']],
  ['[{"a":1},{"a":1},{"x":[0,{"a":1,"a":2}]}]', ['duplicate_key #/2/x/1/a']],
  ['{"a/b":{"m~n":1,"m~n":1}}', ['duplicate_key #/a~1b/m~0n']],
  ['{"a":[{},[],{"k":[],"k":{}}]}', ['duplicate_key #/a/2/k']],
  [' { "a" : 1 ,\n\t"a" : 2 } ', ['duplicate_key #/a']],
  ['{"a":1,"a":2,"a":3}', ['duplicate_key #/a', 'duplicate_key #/a']],
  ['{"\\"":1,"\\"":2}', ['duplicate_key #/"']],
  ['{"\\\\":1,"\\\\":2}', ['duplicate_key #/\\']],
  ['{"\\ud83d\\ude00":1,"😀":2}', ['duplicate_key #/😀']],
])('finds every key given twice in %s', (text, expected) => {
  expect(found(text)).toEqual(expected);
});

test.each([
  '{}',
  '[]',
  '1',
  'null',
  '""',
  '"a\\"b\\\\"',
  '{"a":"{\\"a\\":1,\\"a\\":2}"}',
  '{"a":"\\\\","b":"\\\\\\"","c":"[[[[["}',
  '{"a":["a","a","a"],"b":"a"}',
  '[{"a":1},{"a":2}]',
  '{"a":{"a":{"a":1}}}',
  '{"constructor":1,"prototype":2}',
  '{"constructor":{"a":{"prototype":1}}}',
  '{"proto":"__proto__"}',
])('finds nothing wrong in %s', (text) => {
  expect(found(text)).toEqual([]);
});

test.each([
  ['{"__proto__":{}}', ['prototype_key #/__proto__']],
  ['{"\\u005f_proto__":{}}', ['prototype_key #/__proto__']],
  ['{"a":[{"__proto__":1}]}', ['prototype_key #/a/0/__proto__']],
  ['{"constructor":{"prototype":{}}}', ['prototype_key #/constructor/prototype']],
  ['{"a":{"constructor":{"x":1,"prototype":{}}}}', ['prototype_key #/a/constructor/prototype']],
  [
    '{"__proto__":1,"__proto__":2}',
    ['prototype_key #/__proto__', 'duplicate_key #/__proto__', 'prototype_key #/__proto__'],
  ],
  // asvs: 15.3.6
])('finds the keys that reach a prototype in %s', (text, expected) => {
  expect(found(text)).toEqual(expected);
});

test.each([
  ['[[]]', 2, []],
  ['[[[]]]', 2, ['too_deep #/0/0']],
  ['{"a":{"b":1}}', 2, []],
  ['{"a":{"b":{}}}', 2, ['too_deep #/a/b']],
  ['{"a":[0,1,{"b/c":{}}]}', 3, ['too_deep #/a/2/b~1c']],
  ['[[],[],[],{"a":[]}]', 3, []],
  ['1', 0, []],
  ['{}', 0, ['too_deep #']],
])('accepts nesting up to the limit and not one above: %s at %i', (text, maxDepth, expected) => {
  expect(found(text, maxDepth)).toEqual(expected);
});

test('ends at the first nesting that is too deep', () => {
  const text = '['.repeat(100_000) + ']'.repeat(100_000);
  expect(scanJson(text, 64)).toHaveLength(1);
});

test('returns at most as many problems as asked for', () => {
  const text = `{${Array.from({ length: 5000 }, () => '"a":1').join()}}`;
  expect(scanJson(text, 64)).toHaveLength(100);
  expect(scanJson(text, 64, 3)).toHaveLength(3);
});

test('finds no problems in the output of JSON.stringify', () => {
  fc.assert(
    fc.property(fc.json({ depthSize: 'medium' }), (text) => {
      fc.pre(!text.includes('proto'));
      expect(scanJson(text, 1000)).toEqual([]);
    }),
  );
});

// asvs: 1.5.3
test('finds a key that is given twice anywhere in any document', () => {
  fc.assert(
    fc.property(fc.jsonValue(), fc.string({ unit: anyCharacter, maxLength: 5 }), (value, key) => {
      fc.pre(key !== '__proto__' && !JSON.stringify(value).includes('proto'));
      const [name, inner] = [JSON.stringify(key), JSON.stringify(value)];
      expect(found(`[${inner},{${name}:${inner},${name}:0}]`, 1000)).toEqual([
        `duplicate_key #/1/${escapePointer(key)}`,
      ]);
    }),
  );
});

test('finds the end of every string, however many quotes and backslashes are in it', () => {
  const piece = fc.oneof(
    fc.constantFrom('"', '\\', '\\"', '"\\', 'x'),
    fc.integer({ min: 60, max: 70 }).map((length) => 'x'.repeat(length)),
  );
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 20 }), (pieces) => {
      const text = `[${JSON.stringify(pieces.join(''))},{"a":1,"a":2}]`;
      expect(scanJson(text, 10).map(({ pointer }) => pointer)).toEqual(['#/1/a']);
    }),
  );
});

test('takes time proportional to the length of the text', async () => {
  const texts = [
    `{${Array.from({ length: 200_000 }, (_, index) => `"k${index}":1`).join()}}`,
    `[${'{},'.repeat(500_000)}0]`,
    `"${'\\"'.repeat(1_000_000)}"`,
    `{"${'\\u0061'.repeat(300_000)}":1}`,
  ];
  for (const text of texts) expect(await withinCpuTime(1500, () => scanJson(text, 64))).toEqual([]);
});

test('escapes names as in RFC 6901', () => {
  expect(escapePointer('a/b~c~1')).toBe('a~1b~0c~01');
});

test('cuts a name of more than 200 characters in a pointer', () => {
  const name = (length: number) => 'x'.repeat(length);
  expect(escapePointer(name(200))).toBe(name(200));
  expect(escapePointer(name(201))).toBe(`${name(200)}…`);
  expect(escapePointer('/'.repeat(201))).toBe(`${'~1'.repeat(200)}…`);
  expect(found(`{"${name(201)}":1,"${name(201)}":2}`)).toEqual([`duplicate_key #/${name(200)}…`]);
});
