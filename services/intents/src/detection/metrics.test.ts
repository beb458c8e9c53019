import { Registry } from 'prom-client';
import { expect, test } from 'vitest';
import { measureAnalyses } from './metrics.ts';

test('while the queue cannot be read there are no values, also not the last ones', async () => {
  let isAvailable = true;
  const registry = new Registry();
  const analyses = {
    async size() {
      if (!isAvailable) throw new Error('unavailable');
      return { queued: 3, givenUp: 1, oldestAt: 1_000 };
    },
  };
  measureAnalyses(analyses, registry, { now: () => 61_000 });
  expect(await registry.metrics()).toMatch(/^analyses_queued 3\n[\s\S]*^analyses_oldest_age_seconds 60$/m);
  isAvailable = false;
  expect(await registry.metrics()).not.toMatch(/^analyses_\w+ /m);
});
