import type { Operation } from '@ticketing/service-kit/lifecycle/composition.ts';
import type { Context } from '../context.ts';
import { eventGraceMs, rebuild, reconcile } from './reconciliation.ts';

/**
 * The operations on rows for `npm run events`: `rebuild` builds all rows again from the tickets; `reconcile` compares the
 * rows with the tickets, repairs them, and returns how many differed.
 */
export function rowOperations(context: Context): Record<string, Operation> {
  const { signal } = new AbortController();
  return {
    async rebuild(print) {
      const onPage = (compared: number) => print(`${compared} tickets compared`);
      const total = await rebuild(context, { signal, graceMs: eventGraceMs, onPage });
      print(`the rows of ${total} tickets were rebuilt, and are read from now on`);
      return 0;
    },
    async reconcile(print) {
      const { active } = await context.rows.generations();
      const options = { generation: active, graceMs: eventGraceMs, signal };
      const { compared, missing, stale, surplus } = await reconcile(context, options);
      print(`${compared} tickets compared: ${missing} rows were missing, ${stale} stale, ${surplus} surplus; repaired`);
      return missing + stale + surplus;
    },
  };
}
