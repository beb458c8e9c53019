import { openFailingBuilds } from '@ticketing/testkit/failing-index-builds.ts';
import { expect, test } from 'vitest';
import { setUpStore } from './set-up-store.ts';

test.each([true, false])('names every collection whose indexes cannot be built (new database: %s)', async (isNew) => {
  const { connection, record } = openFailingBuilds(['templates', 'deletedTags']);
  await expect(setUpStore(connection, isNew)).rejects.toThrow(/templates \(no space for .*\), deletedTags \(no space/);
  expect(record.running).toBe(0);
  // Requests are served from a database that is not new.
  expect(record.most > 1).toBe(isNew);
});
