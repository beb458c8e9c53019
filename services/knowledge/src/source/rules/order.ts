import type { KnowledgeStatus } from '@ticketing/contracts/ticketing/knowledge/v1/knowledge_source_pb.ts';
import type { SourceNode, SourceTree } from './state.ts';

const ordersOfTrees = new WeakMap<SourceTree, Map<KnowledgeStatus, readonly SourceNode[]>>();

/**
 * Returns the sources with a status, the oldest change first; within the same second, the smaller id first. They are
 * sorted once for each state of the tree.
 */
export function sourcesByTime(tree: SourceTree, status: KnowledgeStatus): readonly SourceNode[] {
  const orders = ordersOfTrees.get(tree) ?? new Map<KnowledgeStatus, readonly SourceNode[]>();
  ordersOfTrees.set(tree, orders);
  const known = orders.get(status);
  if (known) return known;
  const sorted = [...tree.all()]
    .filter((node) => node.status === status)
    .sort((left, right) => left.modifiedAt - right.modifiedAt || left.id - right.id);
  orders.set(status, sorted);
  return sorted;
}
