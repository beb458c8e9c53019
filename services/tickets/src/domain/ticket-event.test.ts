import { expect, test } from 'vitest';
import { fieldChanges } from './ticket-event.ts';

const tellStatus = (field: string, value: unknown) => (field === 'status' ? String(value) : undefined);

test('tells old and new value of what may be told, and only the name of all else', () => {
  const before = { status: 'open', subject: 'a' };
  const after = { status: 'closed', subject: 'b' };
  expect(fieldChanges(['status', 'subject'], before, after, tellStatus)).toEqual([
    { field: 'status', oldValue: 'open', newValue: 'closed' },
    { field: 'subject' },
  ]);
});

test('passes over what every change touches and what follows from another field', () => {
  const fields = ['version', 'modifiedAt', 'bodyPlain', 'bodyClean', 'process', 'body'];
  expect(fieldChanges(fields, {}, {}, () => undefined)).toEqual([{ field: 'body' }]);
});

test('tells null, which is a value', () => {
  expect(fieldChanges(['agentId'], { agentId: null }, { agentId: 4 }, (_, value) => value as number | null)).toEqual([
    { field: 'agentId', oldValue: null, newValue: 4 },
  ]);
});
