import type { Operation } from '@ticketing/service-kit/lifecycle/composition.ts';
import type { Context } from './context.ts';
import { rebuild, reconcile } from './reconciliation.ts';

const graceMs = 5_000;

/**
 * What an operator can do with the rows: `rebuild` makes all rows anew from the tickets and then lets them be read;
 * `reconcile` compares the rows with the tickets, repairs them, and returns how many had drifted.
 */
export function rowOperations(context: Context): Record<string, Operation> {
  const { signal } = new AbortController();
  return {
    async rebuild(print) {
      const onPage = (compared: number) => print(`${compared} tickets compared`);
      print(`${await rebuild(context, { signal, graceMs, onPage })} tickets; the new rows are read now`);
      return 0;
    },
    async reconcile(print) {
      const { active } = await context.rows.generations();
      const { compared, missing, stale, surplus } = await reconcile(context, { generation: active, graceMs, signal });
      print(`${compared} tickets compared: ${missing} rows were missing, ${stale} stale, ${surplus} surplus; repaired`);
      return missing + stale + surplus;
    },
  };
}
