import { expect, test, vi } from 'vitest';
import { removePresent } from './remove-present.ts';

test.each([
  ['at once', [true], [], true],
  ['after two changes of the same moment', [false, false, true], [true, true], true],
  ['by another call, or never there', [false], [false], false],
  ['by another call after a change', [false, false], [true, false], false],
])('a document that is removed %s', async (_name, removals, presences, isRemoved) => {
  const remove = vi.fn(async () => removals.shift() ?? expect.unreachable());
  const isPresent = vi.fn(async () => presences.shift() ?? expect.unreachable());
  expect(await removePresent(remove, isPresent)).toBe(isRemoved);
  expect([removals, presences]).toEqual([[], []]);
});
