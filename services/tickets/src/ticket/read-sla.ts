import type { Context } from '../context.ts';
import type { TagTree } from '../tag/rules/tree.ts';
import { noSla, type SlaRules } from './rules/sla.ts';

/** Reads the rules of deadlines. The tags are read only for a write that sets tags of a ticket. */
export async function readSlaRules(context: Pick<Context, 'settings' | 'tags'>, setsTags: boolean): Promise<SlaRules> {
  return setsTags ? slaRulesOf(context, await context.tags.tree()) : noSla;
}

/** Reads the rules of deadlines, with tags that were read before. */
export async function slaRulesOf(context: Pick<Context, 'settings'>, tree: TagTree): Promise<SlaRules> {
  const { businessTime } = await context.settings();
  return { businessTime, tagOf: tree.get };
}
