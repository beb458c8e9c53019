import { expect, test } from 'vitest';
import { startWorking, stopWorking, workingIds } from './worked-on.ts';

const now = 1_800_000_000;

test('a profile that starts to work is added, or renewed', () => {
  const before = [
    { profileId: 1, at: now - 60 },
    { profileId: 2, at: now - 30 },
  ];
  expect(startWorking(before, 3, now).after).toEqual([...before, { profileId: 3, at: now }]);
  expect(startWorking(before, 1, now)).toEqual({
    after: [
      { profileId: 2, at: now - 30 },
      { profileId: 1, at: now },
    ],
    added: { profileId: 1, at: now },
    removedIds: [],
  });
});

test('a profile that stops is removed, whether it was there or not', () => {
  const before = [{ profileId: 1, at: now }];
  expect(stopWorking(before, 1, now)).toEqual({ after: [], added: undefined, removedIds: [1] });
  expect(stopWorking(before, 2, now)).toEqual({ after: before, added: undefined, removedIds: [2] });
});

test('every change removes the profiles that were last seen an hour ago', () => {
  const before = [
    { profileId: 1, at: now - 3600 },
    { profileId: 2, at: now - 3599 },
  ];
  expect(workingIds(before, now)).toEqual([2]);
  expect(startWorking(before, 3, now).removedIds).toEqual([1]);
  expect(stopWorking(before, 2, now)).toMatchObject({ after: [], removedIds: [1, 2] });
});

test('the oldest are removed when there are more than a hundred profiles', () => {
  const before = Array.from({ length: 100 }, (_, index) => ({ profileId: index + 1, at: now - index }));
  const { after, removedIds } = startWorking(before, 101, now);
  expect(removedIds).toEqual([100]);
  expect(after).toHaveLength(100);
});
