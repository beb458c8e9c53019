import { Registry } from 'prom-client';
import { expect, test } from 'vitest';
import { measureErasures } from './erase.ts';

test('while the erasures cannot be read there are no values, also not the last ones', async () => {
  let isAvailable = true;
  const registry = new Registry();
  const store = {
    async pendingByService() {
      if (!isAvailable) throw new Error('unavailable');
      return [{ service: 'reporting', count: 2, oldestAt: new Date(1_000) }];
    },
  };
  measureErasures(store, registry, { now: () => 61_000 });
  expect(await registry.metrics()).toMatch(
    /^erasures_pending\{owner="reporting"\} 2\n[\s\S]*^erasures_oldest_age_seconds\{owner="reporting"\} 60$/m,
  );
  isAvailable = false;
  expect(await registry.metrics()).not.toMatch(/^erasures_\w+\{/m);
});
