import { SpamStatus } from '@ticketing/contracts/ticketing/tickets/v1/enums_pb.ts';
import { expect, test } from 'vitest';
import { type TagLabels, trainingLabels } from './label.ts';

const by = (isPerson: boolean): TagLabels => ({ version: 1, tagIds: [3, 1, 2], byPerson: isPerson });

// guarantee: I19
test('what was found later, or does not exist any more, is not learned', () => {
  const ticket = { tagIds: [9, 3, 1], spamStatus: null, isSpam: false };
  expect(trainingLabels(by(true), ticket).tagIds).toEqual([1, 3]);
  expect(trainingLabels(null, ticket)).toEqual({ tagIds: null, isSpam: null });
});

test.each([
  ['manual_spam', by(true), SpamStatus.MANUAL_SPAM, true, true],
  ['manual_clean, although a tag says spam', null, SpamStatus.MANUAL_CLEAN, true, false],
  ['tagged by a person', by(true), null, false, false],
  ['tagged by a person, and found to be clean', by(true), SpamStatus.AUTO_CLEAN, false, false],
  ['tagged by a person, and found to be spam', by(true), SpamStatus.AUTO_SPAM, true, null],
  ['tagged by a person as spam', by(true), null, true, null],
  ['tagged by a program', by(false), null, false, null],
  ['marked by a header', null, SpamStatus.AUTO_PROGRAMMATIC, true, null],
  ['found to be clean', null, SpamStatus.AUTO_CLEAN, false, null],
] as const)('of a ticket that is %s, spam is learned', (_, tags, spamStatus, isSpam, learned) => {
  expect(trainingLabels(tags, { tagIds: [], spamStatus, isSpam }).isSpam).toBe(learned);
});
