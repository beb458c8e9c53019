import { TagType } from '@ticketing/contracts/ticketing/tickets/v1/tag_pb.ts';
import { expect, test } from 'vitest';
import { tagState as tag } from '../../../test/tag-state.ts';
import { tagTree } from './tree.ts';

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
