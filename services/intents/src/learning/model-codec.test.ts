import fc from 'fast-check';
import { expect, test } from 'vitest';
import { syntheticTickets, toExamples } from '../../test/synthetic-tickets.ts';
import { emptyModel, type Model } from './model.ts';
import { ModelFormatError, modelVersion, parseModel, serialiseModel } from './model-codec.ts';
import { train } from './train.ts';

const number = fc.double({ noNaN: true, noDefaultInfinity: true }).map((value) => value || 0);
const part = fc.double({ min: 0, max: 1, noNaN: true }).map((value) => value || 0);
const column = fc.record({
  task: fc.constantFrom('tag', 'topic', 'spam'),
  label: fc.string({ unit: 'grapheme' }),
  bias: number,
  scale: number,
  measurement: fc.record({
    calibration: fc.record({ slope: number, offset: number }),
    examples: fc.nat(),
    precision: fc.option(part),
    recall: fc.option(part),
  }),
});
const model: fc.Arbitrary<Model> = fc
  .tuple(fc.uint32Array({ maxLength: 20 }), fc.array(column, { maxLength: 4 }))
  .chain(([hashes, columns]) =>
    fc.record({
      vocabulary: fc.record({
        hashes: fc.constant(hashes),
        idf: fc.float32Array({ minLength: hashes.length, maxLength: hashes.length, noNaN: true }),
      }),
      columns: fc.constant(columns),
      weights: fc.int8Array({
        minLength: hashes.length * columns.length,
        maxLength: hashes.length * columns.length,
      }),
      tagThreshold: part,
      tickets: fc.nat(),
      measuredTickets: fc.nat(),
    }),
  );

test('a model is the same after it was written and read', () => {
  fc.assert(
    fc.property(model, (one) => {
      expect(parseModel(serialiseModel(one))).toEqual(one);
    }),
  );
  const learned = train(toExamples(syntheticTickets(120)));
  expect(learned.columns.length).toBeGreaterThan(3);
  expect(parseModel(serialiseModel(learned))).toEqual(learned);
  expect(parseModel(serialiseModel(emptyModel()))).toEqual(emptyModel());
});

test('bytes within a larger buffer are read too', () => {
  const bytes = serialiseModel(train(toExamples(syntheticTickets(60))));
  const larger = new Uint8Array(bytes.length + 7);
  larger.set(bytes, 3);
  expect(parseModel(larger.subarray(3, 3 + bytes.length))).toEqual(parseModel(bytes));
});

test('a damaged model is refused, wherever it is damaged', () => {
  const bytes = serialiseModel(train(toExamples(syntheticTickets(60))));
  for (const at of [0, 8, 12, 30, 44, 60, bytes.length >> 1, bytes.length - 1]) {
    expect(() => parseModel(bytes.with(at, (bytes[at] ?? 0) ^ 1))).toThrow(ModelFormatError);
  }
  for (const length of [0, 7, 47, 48, bytes.length - 1]) {
    expect(() => parseModel(bytes.subarray(0, length))).toThrow(ModelFormatError);
  }
  expect(() => parseModel(Buffer.concat([bytes, Buffer.of(0)]))).toThrow(ModelFormatError);
});

test('a model of another version is refused with both versions', () => {
  const other = serialiseModel(emptyModel()).with(8, modelVersion + 1);
  expect(() => parseModel(other)).toThrow(`version ${modelVersion + 1}, not ${modelVersion}`);
});
