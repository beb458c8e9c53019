import { expect, test } from 'vitest';
import { choosePartition } from './partition.ts';

test('keys are spread evenly, and each is always in the same partition', () => {
  const counts = Array.from({ length: 12 }, () => 0);
  for (let id = 1; id <= 12_000; id++) {
    const partition = choosePartition(String(id), 12);
    expect(choosePartition(String(id), 12)).toBe(partition);
    counts[partition] = (counts[partition] ?? 0) + 1;
  }
  for (const count of counts) expect(Math.abs(count - 1000)).toBeLessThan(200);
});
