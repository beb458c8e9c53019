import fc from 'fast-check';
import { expect, test } from 'vitest';
import { tagState } from '../../test/tag-state.ts';
import { applyTagChange, type TagChange } from '../domain/tag-change.ts';
import type { TagState } from '../domain/tag-tree.ts';
import { appendChanges, emptyTagLog, maxChanges, tagsAfter } from './tag-log.ts';

const event = { eventId: 'evt_1', version: 1, occurredAt: 0, deleted: false };
const changed = (id: number, version: number): TagChange => ({ tag: tagState(id, null, { version }), event });
const gone = (id: number, version: number): TagChange => ({
  tag: { id, version, deleted: true, cleanUpUntil: 0, deletedBy: { profileId: 1, kind: 'user' } },
  event,
});

test('the current tags can be computed from those of any revision that the log covers', () => {
  const together = fc.uniqueArray(fc.tuple(fc.nat(40), fc.nat(9)), {
    minLength: 1,
    maxLength: maxChanges,
    selector: ([id]) => id,
  });
  fc.assert(
    fc.property(fc.array(together, { minLength: 1, maxLength: 60 }), (steps) => {
      let log = emptyTagLog;
      let tags: ReadonlyMap<number, TagState> = new Map();
      const past = [tags];
      for (const [index, step] of steps.entries()) {
        const changes = step.map(([id, kind]) => (kind === 0 ? gone(id, index + 1) : changed(id, index + 1)));
        log = appendChanges(log, changes);
        const next = new Map(tags);
        for (const change of changes) applyTagChange(next, change);
        tags = next;
        past.push(tags);
        expect(log.changes.length).toBeLessThanOrEqual(maxChanges);
        expect(log.changes.filter(({ revision }) => revision === log.revision)).toHaveLength(step.length);
      }
      expect(log.revision).toBe(steps.length);
      expect(log.completeAfter).toBeLessThan(log.revision);
      for (let revision = log.completeAfter; revision <= log.revision; revision++) {
        expect(tagsAfter(past[revision] ?? new Map(), revision, log)).toEqual(tags);
      }
    }),
  );
});

test('the log has only the last change of a tag', () => {
  const log = [changed(1, 1), changed(2, 1), gone(1, 2)].reduce(
    (log, change) => appendChanges(log, [change]),
    emptyTagLog,
  );
  expect(log.changes.map(({ revision, tag }) => [revision, tag.id])).toEqual([
    [2, 2],
    [3, 1],
  ]);
  expect(JSON.stringify(log)).not.toContain('Tag 1');
});
