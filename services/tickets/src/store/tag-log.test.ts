import fc from 'fast-check';
import { expect, test } from 'vitest';
import { tagState } from '../../test/tag-state.ts';
import type { TagState } from '../domain/tag-tree.ts';
import { emptyTagLog, followed, type TagChange, withChange } from './tag-log.ts';

const event = { eventId: 'evt_1', version: 1, occurredAt: 0, deleted: false };
const changed = (id: number, version: number): TagChange => ({ tag: tagState(id, null, { version }), event });
const gone = (id: number, version: number): TagChange => ({
  tag: { id, version, deleted: true, leavesUntil: 0, deletedBy: { profileId: 1, kind: 'user' } },
  event,
});

test('whoever knows the tags at a revision that the log reaches back to knows them now', () => {
  fc.assert(
    fc.property(fc.array(fc.tuple(fc.nat(40), fc.nat(9)), { minLength: 1, maxLength: 120 }), (steps) => {
      let log = emptyTagLog;
      let tags: ReadonlyMap<number, TagState> = new Map();
      const past = [tags];
      for (const [index, [id, kind]] of steps.entries()) {
        const change = kind === 0 ? gone(id, index + 1) : changed(id, index + 1);
        log = withChange(log, change);
        const next = new Map(tags);
        if ('deleted' in change.tag) next.delete(id);
        else next.set(id, change.tag);
        tags = next;
        past.push(tags);
      }
      expect(log.revision).toBe(steps.length);
      expect(log.changes.length).toBeLessThanOrEqual(20);
      for (let revision = log.completeAfter; revision <= log.revision; revision++) {
        expect(followed(past[revision] ?? new Map(), revision, log)).toEqual(tags);
      }
    }),
  );
});

test('keeps nothing of what a tag was before its last change', () => {
  const log = [changed(1, 1), changed(2, 1), gone(1, 2)].reduce(withChange, emptyTagLog);
  expect(log.changes.map(({ revision, tag }) => [revision, tag.id])).toEqual([
    [2, 2],
    [3, 1],
  ]);
  expect(JSON.stringify(log)).not.toContain('Tag 1');
});
