import type { ReadSettings } from '../settings.ts';
import type { TagTree } from '../tag/rules/tree.ts';
import type { TagStore } from '../tag/store.ts';
import { noSla, type SlaRules } from './rules/sla.ts';

/** Reads the rules of deadlines. The tags are read only for a write that sets tags of a ticket. */
export async function readSlaRules(
  deps: { settings: ReadSettings; tags: Pick<TagStore, 'tree'> },
  setsTags: boolean,
): Promise<SlaRules> {
  return setsTags ? slaRulesOf(deps, await deps.tags.tree()) : noSla;
}

/** Reads the rules of deadlines, with tags that were read before. */
export async function slaRulesOf({ settings }: { settings: ReadSettings }, tree: TagTree): Promise<SlaRules> {
  const { businessTime } = await settings();
  return { businessTime, tagOf: tree.get };
}
