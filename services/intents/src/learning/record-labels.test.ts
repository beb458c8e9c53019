import { create, fromJson, type JsonValue } from '@bufbuild/protobuf';
import { ValueSchema } from '@bufbuild/protobuf/wkt';
import {
  ChangeCause,
  TicketChangedSchema,
  TicketChangeType,
} from '@ticketing/contracts/ticketing/events/v1/ticket_changed_pb.ts';
import { expect, test } from 'vitest';
import { labelFrom } from './record-labels.ts';

type Values = Record<string, readonly [JsonValue, JsonValue] | null>;

const person = { kind: 'user' };
const tagged: Values = { tagIds: [[1], [1, 2]] };

function decide(
  values: Values,
  others: { actor?: { kind: string }; cause?: ChangeCause; type?: TicketChangeType } = {},
) {
  const changes = Object.entries(values).map(([field, sides]) => {
    if (!sides) return { field };
    return { field, oldValue: fromJson(ValueSchema, sides[0]), newValue: fromJson(ValueSchema, sides[1]) };
  });
  const type = TicketChangeType.TICKET_UPDATED;
  const whole = { ticketId: 9, version: 4, type, changes, actor: person, cause: ChangeCause.REQUEST, ...others };
  return labelFrom(create(TicketChangedSchema, whole));
}

test('tags are a decision of whoever has changed them, as they are then', () => {
  const decision = { ticketId: 9, onlyRemoved: [], spam: false, text: false };
  const tags = { version: 4, tagIds: [1, 2], byPerson: true };
  expect(decide(tagged)).toEqual({ ...decision, tags });
  expect(decide(tagged, { actor: { kind: 'serviceWorker' } })?.tags).toEqual({ ...tags, byPerson: false });
  expect(decide(tagged, { cause: ChangeCause.EXECUTION })?.tags).toEqual(tags);
  expect(decide({ tagIds: [[], [3]] }, { type: TicketChangeType.TICKET_CREATED })?.tags?.tagIds).toEqual([3]);
});

test.each([
  ['an analysis', tagged, { cause: ChangeCause.ANALYSIS }],
  ['a refresh', tagged, { cause: ChangeCause.REFRESH }],
  ['an automatic execution', tagged, { cause: ChangeCause.EXECUTION, actor: { kind: 'service' } }],
  ['nobody that is known', tagged, { actor: undefined }],
  ['a deletion', tagged, { type: TicketChangeType.TICKET_DELETED }],
  ['a change of something else', { status: ['open', 'closed'] }, {}],
  ['the header rule', { spamStatus: [null, 'auto_programmatic'] }, { type: TicketChangeType.TICKET_CREATED }],
  ['the subject of a new ticket', { subject: null }, { type: TicketChangeType.TICKET_CREATED }],
  // guarantee: I19
] as const)('nothing is decided by %s', (_, values, others) => {
  expect(decide(values, others as object)).toBeUndefined();
});

test('a manual spam status is a decision, and so is that it is none any more', () => {
  expect(decide({ spamStatus: [null, 'manual_spam'] })).toMatchObject({ spam: true, tags: undefined });
  expect(decide({ spamStatus: ['auto_spam', 'manual_clean'] })).toMatchObject({ spam: true });
  expect(decide({ spamStatus: ['manual_clean', null] })).toMatchObject({ spam: true });
});

test('tags that were only removed are named, because they may have been deleted', () => {
  expect(decide({ tagIds: [[1, 2, 3], [2]] })).toMatchObject({ onlyRemoved: [1, 3], tags: { tagIds: [2] } });
  expect(
    decide({
      tagIds: [
        [1, 2],
        [2, 4],
      ],
    })?.onlyRemoved,
  ).toEqual([]);
});

test('another subject is another text to learn from', () => {
  expect(decide({ subject: null })).toMatchObject({ text: true, spam: false, tags: undefined });
});
