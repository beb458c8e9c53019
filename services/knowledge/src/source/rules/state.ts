import type {
  KnowledgeStatus,
  KnowledgeType,
} from '@ticketing/contracts/ticketing/knowledge/v1/knowledge_source_pb.ts';
import { DomainError, invalidInput, type Violation } from '@ticketing/errors/domain-error.ts';
import { maxLevels, type ParentTree, parentProblem } from '@ticketing/runtime/parent-tree.ts';

/** The part of a knowledge source that every process keeps in memory. Enums have their numbers in the contract. */
export interface SourceNode {
  id: number;
  /** Every change raises it by one. */
  version: number;
  parent: number | null;
  /** Empty: all. */
  teams: readonly number[];
  status: KnowledgeStatus;
  type: KnowledgeType;
  excluded: boolean;
  /** Unix seconds. */
  modifiedAt: number;
  /** About how many bytes its texts have. */
  bytes: number;
}

/** The fields of a knowledge source that are only stored. */
export interface SourceContent {
  source: string;
  name: string;
  title: string;
  text: string;
  tags: readonly number[];
  confidential: boolean;
  /** Unix seconds. */
  createdAt: number;
}

/** A knowledge source. */
export interface SourceState extends SourceNode, SourceContent {}

/** The fields of a knowledge source that a request can set. */
export type SourceInput = Omit<SourceState, 'id' | 'version' | 'modifiedAt' | 'bytes' | 'createdAt'>;

/** The data that remains of a deleted knowledge source. */
export interface DeletedSource {
  id: number;
  version: number;
  deleted: true;
}

/** All knowledge sources at a revision. */
export interface SourceTree extends ParentTree<SourceNode> {
  /** How many times changes of knowledge sources have been committed. */
  revision: number;
}

/** About how many bytes the other fields of a source have. */
const otherBytes = 400;

/**
 * Sets fields of a knowledge source. If no value differs, the result is the same object, with its old version.
 *
 * Units: `now` in Unix seconds.
 */
export function changeSource(before: SourceState, input: Partial<SourceInput>, now: number): SourceState {
  const after = { ...before, ...input };
  if (JSON.stringify(after) === JSON.stringify(before)) return before;
  return { ...after, version: before.version + 1, modifiedAt: now, bytes: estimateBytes(after) };
}

/** About how many bytes a source has in a response. */
export function estimateBytes({ text, title, name, source, tags, teams }: SourceInput): number {
  const texts = [text, title, name, source].reduce((sum, one) => sum + Buffer.byteLength(one), 0);
  return texts + 8 * (tags.length + teams.length) + otherBytes;
}

/**
 * Checks the names, the parent and the teams of a source.
 *
 * Errors: too_short, unknown_parent, knowledge_cycle, knowledge_too_deep, teams_required.
 * Source: docs/reference/api.md, Knowledge.
 */
export function requireValidSource(tree: SourceTree, source: SourceState): void {
  const blank = (['name', 'title'] as const).filter((field) => source[field] === '');
  const violations: Violation[] = [
    ...blank.map((field) => ({ pointer: `#/${field}`, code: 'too_short', detail: 'must not be blank' })),
    ...parentViolations(tree, source.id, source.parent),
  ];
  if (source.confidential && source.teams.length === 0) {
    const detail = 'must not be empty if the source is confidential';
    violations.push({ pointer: '#/teams', code: 'teams_required', detail });
  }
  if (violations.length > 0) throw invalidInput(violations);
}

function parentViolations(tree: SourceTree, id: number, parent: number | null): Violation[] {
  const pointer = '#/parent';
  switch (parentProblem(tree, id, parent)) {
    case 'unknown':
      return [{ pointer, code: 'unknown_parent', detail: `source ${parent} does not exist` }];
    case 'cycle':
      return [{ pointer, code: 'knowledge_cycle', detail: `source ${parent} is source ${id} itself, or below it` }];
    case 'too_deep':
      return [{ pointer, code: 'knowledge_too_deep', detail: `there would be more than ${maxLevels} levels` }];
    default:
      return [];
  }
}

/** Requires that no source is directly below this one. Errors: knowledge_source_has_children. */
export function requireChildless(tree: SourceTree, id: number): void {
  if (tree.findChildren(id).length === 0) return;
  const detail = 'There are sources below this one.';
  throw new DomainError('failed_precondition', 'knowledge_source_has_children', detail);
}
