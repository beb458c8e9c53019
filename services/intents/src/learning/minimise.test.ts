import fc from 'fast-check';
import { expect, test } from 'vitest';
import { minimise } from './minimise.ts';

/** Half the sum of `curvature * (x - centre)²`. */
function bowl(centre: readonly number[], curvature: readonly number[], guess = curvature) {
  return {
    at(point: Float64Array, gradient: Float64Array) {
      let value = 0;
      for (const [index, middle] of centre.entries()) {
        const [distance, bend] = [(point[index] ?? 0) - middle, curvature[index] ?? 0];
        gradient[index] = bend * distance;
        value += (bend * distance * distance) / 2;
      }
      return value;
    },
    curvature: Float64Array.from(guess),
  };
}

test('finds the minimum from any start, also if the curvature is not known', () => {
  const numbers = fc.array(fc.double({ min: -50, max: 50, noNaN: true }), { minLength: 4, maxLength: 4 });
  const bends = fc.array(fc.double({ min: 0.1, max: 100, noNaN: true }), { minLength: 4, maxLength: 4 });
  fc.assert(
    fc.property(numbers, numbers, bends, (centre, start, curvature) => {
      const found = minimise(bowl(centre, curvature, [1, 1, 1, 1]), Float64Array.from(start), 1e-6);
      for (const [index, value] of found.entries()) expect(value).toBeCloseTo(centre[index] ?? 0, 3);
    }),
  );
});

test('goes on in short steps until the gradient is as short as wanted', () => {
  const centre = [-0.0006173572172511844, 0, 0, 0.000031723490825112624];
  const found = minimise(bowl(centre, [0.1, 0.1, 0.1, 45.75118124598079], [1, 1, 1, 1]), new Float64Array(4), 1e-6);
  for (const [index, value] of found.entries()) expect(value).toBeCloseTo(centre[index] ?? 0, 5);
});

test('takes no step from the minimum, and one if it knows the curvature', () => {
  const centre = [1, -2, 3];
  let calls = 0;
  const counted = { ...bowl(centre, [1, 10, 100]) };
  const at = (point: Float64Array, gradient: Float64Array) => {
    calls += 1;
    return bowl(centre, [1, 10, 100]).at(point, gradient);
  };
  minimise({ ...counted, at }, Float64Array.from(centre), 1e-6);
  expect(calls).toBe(1);
  minimise({ ...counted, at }, new Float64Array(3), 1e-6);
  expect(calls).toBe(3);
});

test('ends where the function has no minimum', () => {
  const slope = {
    at(point: Float64Array, gradient: Float64Array) {
      gradient[0] = 1;
      return point[0] ?? 0;
    },
    curvature: Float64Array.of(1),
  };
  expect(minimise(slope, Float64Array.of(0), 1e-6)[0]).toBeLessThan(0);
});
