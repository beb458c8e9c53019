import type { AuditEntry } from '@ticketing/store/audit/audit-chain.ts';
import { serviceNamed } from '@ticketing/system/services.ts';
import { expect, test } from 'vitest';
import { listDeletions } from './list-deletions.ts';

const updateSource = 'ticketing.knowledge.v1.KnowledgeService.UpdateKnowledgeSource';
const deleteSkill = 'ticketing.knowledge.v1.SkillService.DeleteSkill';

/** An audit log with some entries. It notes what it is asked for. */
function toLog(entries: { method: string; ids: string[]; fields?: string[]; outcome?: string }[]) {
  const asked: unknown[] = [];
  return {
    asked,
    async seal() {
      asked.push('seal');
      return undefined;
    },
    async *readEntries(methods: readonly string[], since: number) {
      asked.push([methods, since]);
      for (const { method, ids, fields = [], outcome = 'done' } of entries) {
        yield { method, fields, outcome, subject: { kind: 'Any', ids } } as unknown as AuditEntry;
      }
    },
  };
}

test('lists the deletions among the changes, also those of which nobody knows whether they were made', async () => {
  const log = toLog([
    { method: updateSource, ids: ['1'], fields: ['status'] },
    { method: updateSource, ids: ['2'], fields: ['name', 'status=deleted'] },
    { method: deleteSkill, ids: ['3'] },
    { method: deleteSkill, ids: ['4'], outcome: 'unknown' },
  ]);
  expect(await listDeletions(serviceNamed('knowledge'), log, new Date(5))).toEqual({
    [updateSource]: ['2'],
    [deleteSkill]: ['3', '4'],
  });
  // Deletions of the last moment have to be in the log first.
  expect(log.asked).toEqual(['seal', [[updateSource, deleteSkill], 5]]);
});

test('lists only the deletions with an outcome that is asked for', async () => {
  const log = toLog([
    { method: deleteSkill, ids: ['3'] },
    { method: deleteSkill, ids: ['4'], outcome: 'unknown' },
  ]);
  expect(await listDeletions(serviceNamed('knowledge'), log, new Date(0), ['done'])).toEqual({ [deleteSkill]: ['3'] });
});

test('a service that deletes nothing has no log to be read', async () => {
  const log = toLog([]);
  expect(await listDeletions(serviceNamed('reporting'), log, new Date(0))).toEqual({});
  expect(log.asked).toEqual([]);
});
