import { noSla, type SlaRules } from '../domain/sla.ts';
import type { Context } from './context.ts';

/** Reads what deadlines follow from. The tags are read only for a write that sets tags of a ticket. */
export async function readSlaRules(context: Pick<Context, 'settings' | 'tags'>, setsTags: boolean): Promise<SlaRules> {
  if (!setsTags) return noSla;
  const [{ businessTime }, tree] = await Promise.all([context.settings(), context.tags.tree()]);
  return { businessTime, tagOf: tree.get };
}
