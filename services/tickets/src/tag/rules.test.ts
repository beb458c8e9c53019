import { TagType } from '@ticketing/contracts/ticketing/tickets/v1/tag_pb.ts';
import { DomainError } from '@ticketing/errors/domain-error.ts';
import { describe, expect, test } from 'vitest';
import { tagState as tag, tagState } from '../../test/tag-state.ts';
import { changeTag, requireChildless, requireValidNameAndParent, type TagState, tagTree } from './rules.ts';

test('the full name has the names from the top-level ancestor to the tag', () => {
  const leaf = tag(3, 2);
  const tree = tagTree([leaf, tag(1), tag(2, 1)]);
  expect(tree.fullName(leaf)).toBe('Tag 1 / Tag 2 / Tag 3');
  expect(tree.fullName(tag(1))).toBe('Tag 1');
});

test('the full name of a tag whose parent is unknown begins with the tag', () => {
  expect(tagTree([tag(3, 99)]).fullName(tag(3, 99))).toBe('Tag 3');
});

test('the full name is finite even if the parents form a cycle', () => {
  const tree = tagTree([tag(1, 2), tag(2, 1)]);
  expect(tree.fullName(tag(1, 2)).split(' / ')).toHaveLength(100);
});

test('only skill tags that are relevant for routing are routing skills', () => {
  const tree = tagTree([tag(1), tag(2, null, { routingRelevant: false }), tag(3, null, { type: TagType.BRAND })]);
  expect([1, 2, 3, 4].map(tree.isRoutingSkill)).toEqual([true, false, false, false]);
  expect(tree.routingSkillIds).toEqual([1]);
});

test('the tree finds every tag by its id', () => {
  const tree = tagTree([tag(2), tag(1)]);
  expect(tree.get(1)?.name).toBe('Tag 1');
  expect(tree.get(9)).toBeUndefined();
  expect([...tree.all()].map(({ id }) => id)).toEqual([2, 1]);
});

test('the tree finds the children of a tag, and its ancestors in order', () => {
  const tree = tagTree([tag(1), tag(2, 1), tag(3, 2), tag(4, 1), tag(5)]);
  const ids = (tags: readonly { id: number }[]) => tags.map(({ id }) => id);
  expect(ids(tree.findChildren(1))).toEqual([2, 4]);
  expect(ids(tree.findChildren(null))).toEqual([1, 5]);
  expect(tree.findChildren(3)).toEqual([]);
  expect(ids(tree.pathToRoot(3))).toEqual([3, 2, 1]);
  expect(tree.pathToRoot(9)).toEqual([]);
});

test('the height of a tag is the length of the longest path to a descendant', () => {
  const tree = tagTree([tag(1), tag(2, 1), tag(3, 2), tag(4, 1)]);
  expect([1, 2, 3, 4, 9].map(tree.measureHeight)).toEqual([3, 2, 1, 1, 0]);
});

const tree = tagTree([
  tagState(1, null, { name: 'Abrechnung' }),
  tagState(2, 1, { name: 'Abschlag' }),
  tagState(3, 2, { name: 'Größe' }),
  tagState(4, null, { name: 'Umzug' }),
]);

/** The violations that a check throws, as `pointer code`, or the reason of its error. */
function thrown(check: () => void): string[] {
  try {
    check();
    return [];
  } catch (error) {
    if (!(error instanceof DomainError)) throw error;
    const violations = error.violations.map(({ pointer, code }) => `${pointer} ${code}`);
    return violations.length > 0 ? violations : [error.reason];
  }
}

const violationsOf = (id: number, parent: number | null, name = 'Neu') =>
  thrown(() => requireValidNameAndParent(tree, { id, parent, name }));

describe('the name and the parent of a tag', () => {
  test.each([
    [1, 1],
    [1, 2],
    [1, 3],
    [2, 3],
  ])('tag %i cannot be below tag %i, which is itself or a descendant', (id, parent) => {
    expect(violationsOf(id, parent)).toEqual(['#/parent tag_cycle']);
  });

  test.each([
    [3, 1],
    [3, null],
    [2, 4],
    [1, 4],
    [0, 3],
  ])('tag %i may be below tag %s', (id, parent) => {
    expect(violationsOf(id, parent)).toEqual([]);
  });

  test('the parent must exist', () => {
    expect(violationsOf(2, 9)).toEqual(['#/parent unknown_tag']);
  });

  test('a parent has only one child of a name, in any case and Unicode form', () => {
    expect(violationsOf(0, 1, 'ABSCHLAG')).toEqual(['duplicate_tag']);
    expect(violationsOf(0, 2, 'gro\u0308ße')).toEqual(['duplicate_tag']);
    expect(violationsOf(4, 1, 'Abschlag')).toEqual(['duplicate_tag']);
    expect(violationsOf(2, 1, 'abschlag')).toEqual([]);
    expect(violationsOf(0, 4, 'Abschlag')).toEqual([]);
  });

  test('a blank name is refused; all violations are thrown at once', () => {
    expect(violationsOf(1, 3, '')).toEqual(['#/name too_short', '#/parent tag_cycle']);
  });

  test('the tree is at most 100 levels deep, including the descendants of the tag', () => {
    const chain = Array.from({ length: 100 }, (_, index) => tagState(index + 1, index === 0 ? null : index));
    const deep = tagTree([...chain, tagState(101), tagState(102, 101)]);
    const below = (id: number, parent: number) =>
      thrown(() => requireValidNameAndParent(deep, { id, parent, name: 'Neu' }));
    expect(below(0, 99)).toEqual([]);
    expect(below(0, 100)).toEqual(['#/parent tag_too_deep']);
    expect(below(101, 98)).toEqual([]);
    expect(below(101, 99)).toEqual(['#/parent tag_too_deep']);
  });
});

test('only a tag without children can be deleted', () => {
  expect(thrown(() => requireChildless(tree, 1))).toEqual(['tag_has_children']);
  expect(thrown(() => requireChildless(tree, 3))).toEqual([]);
});

describe('a change', () => {
  const before: TagState = tagState(1, null, { color: '#fff', keywords: ['a'], version: 3, modifiedAt: 10 });

  test('raises the version, and keeps the fields that are not given', () => {
    const after = changeTag(before, { name: 'Anders', color: null }, 20);
    expect(after).toEqual({ ...before, name: 'Anders', color: null, version: 4, modifiedAt: 20 });
  });

  test('without a difference returns the same tag', () => {
    expect(changeTag(before, {}, 20)).toBe(before);
    expect(changeTag(before, { color: '#fff', keywords: ['a'] }, 20)).toBe(before);
    expect(changeTag(before, { keywords: ['a', 'b'] }, 20)).not.toBe(before);
  });
});
