import { expect, test } from 'vitest';
import { measureRecoveries } from './recovery.ts';

test('measures from a fault to the first acknowledgement of a change that was sent after it', () => {
  let now = 100;
  const recoveries = measureRecoveries(() => now);
  recoveries.begin('kill of tickets');
  now = 150;
  recoveries.acknowledged(90);
  expect(recoveries.durations()).toEqual([]);
  now = 400;
  recoveries.acknowledged(130);
  now = 500;
  recoveries.acknowledged(450);
  expect(recoveries.durations()).toEqual([{ what: 'kill of tickets', count: 1, medianMs: 300, longestMs: 300 }]);
});
