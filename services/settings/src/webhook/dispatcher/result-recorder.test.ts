import { WebhookDeliveryStatus } from '@ticketing/contracts/ticketing/settings/v1/webhook_service_pb.ts';
import { createLogger } from '@ticketing/runtime/logger.ts';
import { expect, it } from 'vitest';
import type { AttemptResult } from './queue-store.ts';
import { resultRecorder } from './result-recorder.ts';

const log = createLogger('settings', 'silent');
const attempt = {
  at: 0,
  durationMs: 1,
  status: 204,
  errorKind: null,
  responseStart: '',
  responseJsonBytes: 2,
  address: null,
};
const result = (id: string): AttemptResult => ({
  id,
  attempt,
  attemptsMade: 1,
  status: WebhookDeliveryStatus.DELIVERED,
  dueAt: null,
});
const health = (failuresInRow: number) => ({
  webhookId: 1,
  epoch: 1,
  health: { failuresInRow, firstFailureAt: 0, pausedUntil: null },
});

it('writes results that come during a write together, and tries again while the database is unavailable', async () => {
  const batches: string[][] = [];
  const saved: number[] = [];
  let failures = 2;
  const recorder = resultRecorder({
    queue: {
      async record(results) {
        batches.push(results.map(({ id }) => id));
        if (failures-- > 0) throw new Error('unavailable');
      },
    },
    webhooks: {
      async saveHealth(_id, _epoch, { failuresInRow }) {
        saved.push(failuresInRow);
      },
    },
    log,
    signal: new AbortController().signal,
  });
  await Promise.all([
    recorder.record(result('a')),
    recorder.record(result('b'), health(1)),
    recorder.record(result('c'), health(2)),
  ]);
  expect(batches).toEqual([['a'], ['a'], ['a'], ['b', 'c']]);
  expect(saved).toEqual([2]);
});

it('gives up when the process stops', async () => {
  const stopping = new AbortController();
  const recorder = resultRecorder({
    queue: {
      async record() {
        stopping.abort();
        throw new Error('unavailable');
      },
    },
    webhooks: { async saveHealth() {} },
    log,
    signal: stopping.signal,
  });
  await expect(recorder.record(result('a'))).resolves.toBeUndefined();
});
