import fc from 'fast-check';
import { expect, test } from 'vitest';
import { computeScore, fitLinear } from './fit-linear.ts';
import { type LinearProblem, linearLoss } from './linear-loss.ts';

const vectors = [
  { indices: Uint32Array.of(0, 2), values: Float32Array.of(0.6, 0.8) },
  { indices: Uint32Array.of(1), values: Float32Array.of(1) },
  { indices: Uint32Array.of(0, 1), values: Float32Array.of(0.8, 0.6) },
  { indices: Uint32Array.of(), values: Float32Array.of() },
];
const each: LinearProblem = {
  vectors,
  features: 3,
  labels: Uint8Array.of(1, 0, 0, 0, 1, 1, 0, 0),
  columns: 2,
  isExclusive: false,
};
const one: LinearProblem = {
  vectors,
  features: 3,
  labels: Uint8Array.of(1, 0, 0, 0, 1, 0, 0, 0, 1, 1, 0, 0),
  columns: 3,
  isExclusive: true,
};

test.each([
  ['each label by itself', each],
  ['one of several labels', one],
])('the gradient is that of the loss: %s', (_, problem) => {
  const loss = linearLoss(problem);
  const size = 4 * problem.columns;
  const points = fc.array(fc.double({ min: -3, max: 3, noNaN: true }), { minLength: size, maxLength: size });
  fc.assert(
    fc.property(points, (numbers) => {
      const point = Float64Array.from(numbers);
      const gradient = new Float64Array(size);
      loss.at(point, gradient);
      const unused = new Float64Array(size);
      for (const index of point.keys()) {
        const [above, below] = [
          point.with(index, (point[index] ?? 0) + 1e-5),
          point.with(index, (point[index] ?? 0) - 1e-5),
        ];
        expect(gradient[index]).toBeCloseTo((loss.at(above, unused) - loss.at(below, unused)) / 2e-5, 3);
      }
    }),
    { numRuns: 20 },
  );
});

test('a fitted label has higher scores where it is right, however rare it is', () => {
  const many = Array.from({ length: 40 }, (_, index) => ({
    indices: Uint32Array.of(index === 0 ? 1 : 0),
    values: Float32Array.of(1),
  }));
  const labels = Uint8Array.from(many, (_, index) => (index === 0 ? 1 : 0));
  const [fitted] = fitLinear({ vectors: many, features: 2, labels, columns: 1, isExclusive: false });
  const scores = many.slice(0, 2).map((vector) => (fitted ? computeScore(vector, fitted) : Number.NaN));
  expect(scores[0]).toBeGreaterThan(0);
  expect(scores[1]).toBeLessThan(0);
});

test('a label that every example has, or none, is fitted without an error', () => {
  for (const label of [0, 1]) {
    const labels = new Uint8Array(4).fill(label);
    const [fitted] = fitLinear({ vectors, features: 3, labels, columns: 1, isExclusive: false });
    expect(Number.isFinite(fitted?.bias)).toBe(true);
  }
});
