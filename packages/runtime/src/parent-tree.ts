/** Something that may have a parent of its kind. */
export interface TreeNode {
  id: number;
  parent: number | null;
}

/** Nodes with their relations. */
export interface ParentTree<Node extends TreeNode> {
  get(id: number): Node | undefined;
  all(): Iterable<Node>;
  /** Returns the nodes directly below a node; null: the top-level ones. */
  findChildren(id: number | null): readonly Node[];
  /** Returns a node and its ancestors, from the node upwards; empty for an unknown node. */
  pathToRoot(id: number): Node[];
  /** Returns how many levels the node and its descendants have; 0 for an unknown node. */
  measureHeight(id: number): number;
}

/** How many levels a tree has at most. */
export const maxLevels = 100;

/** The reason why a node may not have a parent. */
export type ParentProblem = 'unknown' | 'cycle' | 'too_deep';

/** Builds a tree of nodes by their ids, which must not change afterwards. */
export function parentTree<Node extends TreeNode>(byId: ReadonlyMap<number, Node>): ParentTree<Node> {
  let byParent: Map<number | null, Node[]> | undefined;
  const findChildren = (id: number | null) => {
    byParent ??= Map.groupBy(byId.values(), ({ parent }) => parent);
    return byParent.get(id) ?? [];
  };
  return {
    get: (id) => byId.get(id),
    all: () => byId.values(),
    findChildren,
    pathToRoot(id) {
      const line: Node[] = [];
      for (let node = byId.get(id); node && line.length < maxLevels; node = byId.get(node.parent ?? 0)) line.push(node);
      return line;
    },
    measureHeight(id) {
      let height = 0;
      let level = [id].filter((one) => byId.has(one));
      while (level.length > 0 && height < maxLevels) {
        height += 1;
        level = level.flatMap((one) => findChildren(one).map((child) => child.id));
      }
      return height;
    },
  };
}

/** Why a node, which need not be in the tree yet, may not have a parent; undefined if it may. */
export function parentProblem(
  tree: ParentTree<TreeNode>,
  id: number,
  parent: number | null,
): ParentProblem | undefined {
  if (parent === null) return undefined;
  const path = tree.pathToRoot(parent);
  if (path.length === 0) return 'unknown';
  if (path.some((ancestor) => ancestor.id === id)) return 'cycle';
  return path.length + Math.max(1, tree.measureHeight(id)) <= maxLevels ? undefined : 'too_deep';
}
