import fc from 'fast-check';
import { expect, test } from 'vitest';
import { appendChanges, type ChangeLog, emptyLog, itemsAfter, maxChanges } from './change-log.ts';

interface Change {
  id: number;
  name?: string;
}

const toId = ({ id }: Change) => id;
const applyTo = (items: Map<number, string>, { id, name }: Change) => {
  if (name === undefined) items.delete(id);
  else items.set(id, name);
};
const changed = (id: number, version: number): Change => ({ id, name: `Item ${id}, ${version}` });

test('the current items can be computed from those of any revision that the log covers', () => {
  const together = fc.uniqueArray(fc.tuple(fc.nat(40), fc.nat(9)), {
    minLength: 1,
    maxLength: maxChanges,
    selector: ([id]) => id,
  });
  fc.assert(
    fc.property(fc.array(together, { minLength: 1, maxLength: 60 }), (steps) => {
      let log: ChangeLog<Change> = emptyLog;
      let items: ReadonlyMap<number, string> = new Map();
      const past = [items];
      for (const [index, step] of steps.entries()) {
        const changes = step.map(([id, kind]) => (kind === 0 ? { id } : changed(id, index + 1)));
        log = appendChanges(log, changes, toId);
        const next = new Map(items);
        for (const change of changes) applyTo(next, change);
        items = next;
        past.push(items);
        expect(log.changes.length).toBeLessThanOrEqual(maxChanges);
        expect(log.changes.filter(({ revision }) => revision === log.revision)).toHaveLength(step.length);
      }
      expect(log.revision).toBe(steps.length);
      expect(log.completeAfter).toBeLessThan(log.revision);
      for (let revision = log.completeAfter; revision <= log.revision; revision++) {
        expect(itemsAfter(past[revision] ?? new Map(), revision, log, applyTo)).toEqual(items);
      }
    }),
  );
});

test('the log has only the last change of an item', () => {
  const log = [changed(1, 1), changed(2, 1), { id: 1 }].reduce<ChangeLog<Change>>(
    (log, change) => appendChanges(log, [change], toId),
    emptyLog,
  );
  expect(log.changes.map(({ revision, id }) => [revision, id])).toEqual([
    [2, 2],
    [3, 1],
  ]);
  expect(JSON.stringify(log)).not.toContain('Item 1');
});
