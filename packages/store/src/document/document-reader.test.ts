import fc from 'fast-check';
import { mongo } from 'mongoose';
import { expect, test } from 'vitest';
import { documentReader } from './document-reader.ts';

const names = ['_id', 'version', 'subject', 'tagIds', 'workedOn', 'ab'];
const read = documentReader<Record<string, unknown>>(names);

const scalar = fc.oneof(
  fc.integer(),
  fc.double(),
  fc.string({ unit: 'binary' }),
  fc.boolean(),
  fc.constant(null),
  fc.date({ noInvalidDate: true }),
);
const value = fc.oneof(
  scalar,
  fc.array(scalar),
  fc.array(fc.array(scalar)),
  fc.array(fc.dictionary(fc.stringMatching(/^[a-z0-9]{1,30}$/), scalar), { maxLength: 3 }),
  fc.dictionary(fc.stringMatching(/^[a-z0-9]{1,30}$/), fc.oneof(scalar, fc.array(scalar))),
  fc.uint8Array({ maxLength: 40 }).map((bytes) => new mongo.Binary(bytes)),
  fc.constant(new mongo.ObjectId('0123456789abcdef01234567')),
  fc.constant(mongo.Timestamp.fromBits(7, 8)),
  fc.constant(mongo.Decimal128.fromString('1.5')),
  fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }).map((number) => mongo.Long.fromBigInt(number)),
);

test('reads the given fields as the driver does, and no others', () => {
  const wanted = fc.constantFrom(...names);
  const other = fc.constantFrom('other', 'Subject', 'subjec', 'subjectt', 'bC', 'äußerst', 'sübject');
  fc.assert(
    fc.property(fc.uniqueArray(fc.tuple(fc.oneof(wanted, other), value), { selector: ([name]) => name }), (entries) => {
      const bytes = mongo.BSON.serialize(Object.fromEntries(entries));
      const expected = mongo.BSON.deserialize(bytes);
      const surrounded = Buffer.concat([Buffer.from('xy'), bytes, Buffer.from('z')]);
      expect(read(surrounded.subarray(2, -1))).toEqual(Object.fromEntries(names.map((name) => [name, expected[name]])));
    }),
    { numRuns: 2000 },
  );
});

test('refuses a value of a type that no stored document has', () => {
  expect(() => read(mongo.BSON.serialize({ subject: /x/ }))).toThrow('a value of type 11');
});
