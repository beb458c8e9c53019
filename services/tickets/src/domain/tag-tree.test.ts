import { TagReference, TagType, TagVisibility } from '@ticketing/contracts/ticketing/tickets/v1/tag_pb.ts';
import { expect, test } from 'vitest';
import { type TagState, tagTree } from './tag-tree.ts';

function tag(id: number, parent: number | null = null, given: Partial<TagState> = {}): TagState {
  return {
    id,
    name: `Tag ${id}`,
    parent,
    reference: TagReference.TICKET,
    type: TagType.SKILL,
    visibility: TagVisibility.PUBLIC,
    color: null,
    routingRelevant: true,
    sla: null,
    priority: null,
    keywords: [],
    modifiedAt: 0,
    ...given,
  };
}

test('the full name leads from the top-level ancestor to the tag', () => {
  const leaf = tag(3, 2);
  const tree = tagTree([leaf, tag(1), tag(2, 1)]);
  expect(tree.fullName(leaf)).toBe('Tag 1 / Tag 2 / Tag 3');
  expect(tree.fullName(tag(1))).toBe('Tag 1');
});

test('the full name of a tag whose parent is unknown begins with the tag', () => {
  expect(tagTree([tag(3, 99)]).fullName(tag(3, 99))).toBe('Tag 3');
});

test('a cycle of parents does not hold up the full name', () => {
  const tree = tagTree([tag(1, 2), tag(2, 1)]);
  expect(tree.fullName(tag(1, 2)).split(' / ')).toHaveLength(100);
});

test('only skill tags that are relevant for routing are routing skills', () => {
  const tree = tagTree([tag(1), tag(2, null, { routingRelevant: false }), tag(3, null, { type: TagType.BRAND })]);
  expect([1, 2, 3, 4].map(tree.isRoutingSkill)).toEqual([true, false, false, false]);
  expect(tree.routingSkillIds).toEqual([1]);
});

test('holds every tag by its id', () => {
  const tree = tagTree([tag(2), tag(1)]);
  expect(tree.get(1)?.name).toBe('Tag 1');
  expect(tree.get(9)).toBeUndefined();
  expect([...tree.all()].map(({ id }) => id)).toEqual([2, 1]);
});
