import type { Context } from '../context.ts';
import type { TagTree } from '../tag/rules/tree.ts';
import { noSla, type SlaRules } from './rules/sla.ts';

/** Reads what deadlines follow from. The tags are read only for a write that sets tags of a ticket. */
export async function readSlaRules(context: Pick<Context, 'settings' | 'tags'>, setsTags: boolean): Promise<SlaRules> {
  return setsTags ? slaRulesOf(context, await context.tags.tree()) : noSla;
}

/** What deadlines follow from, with tags that were read. */
export async function slaRulesOf(context: Pick<Context, 'settings'>, tree: TagTree): Promise<SlaRules> {
  const { businessTime } = await context.settings();
  return { businessTime, tagOf: tree.get };
}
