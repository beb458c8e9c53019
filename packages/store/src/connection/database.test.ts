import { freePort } from '@ticketing/testkit/free-port.ts';
import mongoose from 'mongoose';
import { expect, onTestFinished, test, vi } from 'vitest';
import { openDatabase } from './database.ts';

test('a database that is unreachable is reported once, and not in the first ten seconds', async () => {
  let now = 0;
  const clock = vi.spyOn(performance, 'now').mockImplementation(() => now);
  onTestFinished(() => clock.mockRestore());
  const onUnreachable = vi.fn();
  const uri = `mongodb://127.0.0.1:${await freePort()}/?directConnection=true`;
  const attempt = vi.spyOn(mongoose.Connection.prototype, 'openUri').mockRejectedValue(new Error('still unreachable'));
  onTestFinished(() => attempt.mockRestore());
  const database = openDatabase(uri, 'test_unreachable', onUnreachable);
  onTestFinished(() => database.close());
  // Each further attempt begins when the one before has failed.
  const untilFailed = (count: number) => expect.poll(() => attempt.mock.calls.length).toBe(count);
  now = 9_999;
  await untilFailed(1);
  expect(onUnreachable).not.toHaveBeenCalled();
  now = 10_000;
  await untilFailed(2);
  expect(onUnreachable.mock.calls).toEqual([[expect.objectContaining({ message: 'still unreachable' })]]);
  await untilFailed(3);
  expect(onUnreachable).toHaveBeenCalledTimes(1);
});
