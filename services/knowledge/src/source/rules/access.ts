import { BlockedItemKind } from '@ticketing/contracts/ticketing/knowledge/v1/knowledge_source_pb.ts';
import type { SourceTree } from './state.ts';

/** A source whose teams a caller is not in. */
export interface Blocked {
  id: number;
  kind: BlockedItemKind;
}

/**
 * Returns the sources that keep a caller with these teams from reading a source: itself or sources above it, from the source
 * upwards. Empty if the caller may read it.
 */
export function blockedBy(tree: SourceTree, id: number, teams: ReadonlySet<number>): Blocked[] {
  const { ARTICLE, FOLDER } = BlockedItemKind;
  return tree
    .pathToRoot(id)
    .filter((node) => node.teams.length > 0 && !node.teams.some((team) => teams.has(team)))
    .map((node) => ({ id: node.id, kind: node.id === id ? ARTICLE : FOLDER }));
}
