import { expect, test } from 'vitest';
import { executionInput, maxDataValues } from './input.ts';

const inputWith = (length: number) => () =>
  executionInput({ data: { known: 1 }, options: [] }, { list: Array.from({ length }, () => 1) });

test('the data of an execution has at most 8000 values, also without a JSON Schema', () => {
  // The object, its list, and the member that the intent has.
  const others = 3;
  expect(inputWith(maxDataValues - others)().data).toHaveProperty('list');
  expect(inputWith(maxDataValues - others + 1)).toThrow(
    expect.objectContaining({ violations: [expect.objectContaining({ pointer: '#/data', code: 'invalid_data' })] }),
  );
});
