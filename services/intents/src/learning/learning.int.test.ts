import { Code, ConnectError } from '@connectrpc/connect';
import { ChangeCause } from '@ticketing/contracts/ticketing/events/v1/ticket_changed_pb.ts';
import { SpamStatus } from '@ticketing/contracts/ticketing/tickets/v1/enums_pb.ts';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { type AnalysedStub, TicketChangeType } from '../../test/analysis-harness.ts';
import { type LearningHarness, startLearningHarness } from '../../test/learning-harness.ts';
import { exampleStore } from './example-store.ts';
import { modelVersion } from './model-codec.ts';
import type { LabelledFeatures } from './rules/label.ts';

let used: LearningHarness;
const poll = { timeout: 30_000, interval: 20 };

beforeAll(async () => {
  used = await startLearningHarness('api,consumer,analyser');
  used.model.tagIds.add(8);
});
afterAll(() => used.stop());
beforeEach(() => {
  used.model.before = () => undefined;
});

const { MANUAL_SPAM, MANUAL_CLEAN } = SpamStatus;

test.each([
  ['a person who tags it', { tagIds: [5, 7] }, {}, { tagIds: [5, 7], isSpam: false }],
  ['a program that tags it', { tagIds: [5] }, { kind: 'serviceWorker' }, { tagIds: [5], isSpam: null }],
  [
    'a person who executes an intent that tags it',
    { tagIds: [7] },
    { cause: ChangeCause.EXECUTION },
    { tagIds: [7], isSpam: false },
  ],
  ['a person who marks it as spam', { spamStatus: MANUAL_SPAM, isSpam: true }, {}, { tagIds: null, isSpam: true }],
  ['a person who marks it as clean', { spamStatus: MANUAL_CLEAN }, {}, { tagIds: null, isSpam: false }],
  ['a person who tags it as spam', { tagIds: [7], isSpam: true }, {}, { tagIds: [7], isSpam: null }],
])('a ticket is learned from as it was left by %s', async (_, change, origin, labels) => {
  const ticket = used.ticket();
  await used.decide(ticket, change, origin);
  await expect.poll(async () => (await used.learned())?.get(ticket.id), poll).toEqual(labels);
});

const toExamples = () => used.database.collection('examples');
const findStored = ({ id }: AnalysedStub) => toExamples().findOne({ _id: id as never });
const toLabels = async (ticket: AnalysedStub) => (await used.learned())?.get(ticket.id);

// guarantee: I19
test('what is found after a decision is not learned, until somebody decides again', async () => {
  const ticket = used.ticket();
  await used.decide(ticket, { tagIds: [5] });
  await used.decide(ticket, { tagIds: [5, 7] }, { kind: 'service', cause: ChangeCause.ANALYSIS });
  await used.decide(ticket, { spamStatus: MANUAL_CLEAN });
  await expect.poll(() => findStored(ticket), poll).toMatchObject({ revision: 2, dueAt: null });
  expect(await toLabels(ticket)).toEqual({ tagIds: [5], isSpam: false });
  await used.decide(ticket, { tagIds: [5, 7, 8] });
  await expect.poll(() => toLabels(ticket), poll).toEqual({ tagIds: [5, 7, 8], isSpam: false });
});

test('a decision that comes again changes nothing, and an older one neither', async () => {
  const ticket = used.ticket();
  await used.decide(ticket, { tagIds: [5, 7] });
  await used.decide(ticket, { tagIds: [7] });
  await expect.poll(() => toLabels(ticket), poll).toMatchObject({ tagIds: [7] });
  const before = await findStored(ticket);
  await used.repeat(ticket);
  ticket.version = 0;
  await used.decide(ticket, { tagIds: [5] });
  await used.decide(ticket, { spamStatus: MANUAL_CLEAN, tagIds: [7] });
  await expect.poll(() => findStored(ticket), poll).toMatchObject({ revision: 3, dueAt: null });
  expect(await findStored(ticket)).toMatchObject({ changedAt: before?.changedAt, example: { tagIds: [7] } });
});

test('a deleted tag leaves the examples, and that it leaves the tickets is no decision', async () => {
  const [decided, found, corrected] = [
    used.ticket(),
    used.ticket({ tagIds: [8, 31] }),
    used.ticket({ tagIds: [8, 31] }),
  ];
  await used.decide(decided, { tagIds: [5, 31] });
  await expect.poll(() => toLabels(decided), poll).toMatchObject({ tagIds: [5, 31] });
  await used.deleteTag(31);
  await expect.poll(() => toLabels(decided), poll).toMatchObject({ tagIds: [5] });
  for (const ticket of [found, decided]) await used.decide(ticket, { tagIds: ticket.tagIds.filter((id) => id !== 31) });
  await used.decide(found, { spamStatus: MANUAL_CLEAN });
  await used.decide(corrected, { tagIds: [] });
  await expect.poll(() => toLabels(found), poll).toEqual({ tagIds: null, isSpam: false });
  await expect.poll(() => toLabels(corrected), poll).toEqual({ tagIds: [], isSpam: false });
  expect(await findStored(decided)).toMatchObject({ tags: { version: 2 }, example: { tagIds: [5] } });
});

// guarantee: I19
test('that a deleted tag leaves a ticket is no decision, also before its deletion is known here', async () => {
  const ticket = used.ticket({ tagIds: [5, 99] });
  await used.decide(ticket, { tagIds: [5] });
  await used.decide(ticket, { spamStatus: MANUAL_CLEAN });
  await expect.poll(() => toLabels(ticket), poll).toEqual({ tagIds: null, isSpam: false });
});

test('what is decided, and which tags are deleted, while a ticket is read counts afterwards', async () => {
  const ticket = used.ticket();
  const held = Promise.withResolvers<void>();
  let isHeld = false;
  used.model.before = (_, id) => {
    isHeld ||= id === ticket.id;
    return id === ticket.id ? held.promise : undefined;
  };
  await used.decide(ticket, { tagIds: [5] });
  await expect.poll(() => isHeld, poll).toBe(true);
  await used.decide(ticket, { tagIds: [7, 32] });
  await expect.poll(() => findStored(ticket), poll).toMatchObject({ revision: 2 });
  await used.deleteTag(32);
  const isDeleted = () => used.database.collection('deletedTags').countDocuments({ _id: 32 as never });
  await expect.poll(isDeleted, poll).toBe(1);
  held.resolve();
  await expect.poll(() => toLabels(ticket), poll).toMatchObject({ tagIds: [7] });
});

test('another subject is learned from instead of the former', async () => {
  const ticket = used.ticket();
  await used.decide(ticket, { tagIds: [5] });
  await expect.poll(() => toLabels(ticket), poll).toBeDefined();
  const before = await findStored(ticket);
  await used.decide(ticket, { subject: 'Umzug nach Hamburg' });
  const features = async () => (await findStored(ticket))?.example.features.toString('hex');
  await expect.poll(features, poll).not.toBe(before?.example.features.toString('hex'));
});

// guarantee: E7
test('a ticket that is deleted while it is read leaves nothing behind', async () => {
  const ticket = used.ticket();
  const held = Promise.withResolvers<void>();
  let isHeld = false;
  used.model.before = async (method, id) => {
    if (method !== 'read' || id !== ticket.id) return;
    isHeld = true;
    await held.promise;
  };
  await used.decide(ticket, { tagIds: [5] });
  await expect.poll(() => isHeld, poll).toBe(true);
  await used.publish(ticket.id, TicketChangeType.TICKET_DELETED);
  await expect.poll(() => findStored(ticket), poll).toBeNull();
  held.resolve();
  // The next one is read after it.
  const next = used.ticket();
  await used.decide(next, { tagIds: [5] });
  await expect.poll(() => toLabels(next), poll).toBeDefined();
  expect(await findStored(ticket)).toBeNull();
  // As a consumer does that has died after the deletion was noted.
  await used.decide(ticket, { tagIds: [5] });
  await used.decide(next, { tagIds: [7] });
  await expect.poll(() => toLabels(next), poll).toMatchObject({ tagIds: [7] });
  await expect.poll(() => findStored(ticket), poll).toBeNull();
});

test('a ticket that cannot be read is given up visibly, delays no other, and is read when somebody decides again', async () => {
  const [bad, good] = [used.ticket(), used.ticket()];
  used.model.before = (_, id) => {
    if (id === bad.id) throw new ConnectError('no', Code.Internal);
  };
  await used.decide(bad, { tagIds: [5] });
  const attempt = async () => {
    // The pauses between attempts are over.
    await toExamples().updateOne(
      { _id: bad.id as never, dueAt: { $ne: null }, lease: null },
      { $set: { dueAt: new Date(0) } },
    );
    await used.decide(good, { tagIds: [5, good.version + 100] });
    return findStored(bad);
  };
  await expect
    .poll(attempt, poll)
    .toMatchObject({ dueAt: null, lastError: 'tickets: Internal', attempts: 6, example: null });
  await expect.poll(() => toLabels(good), poll).toBeDefined();
  used.model.before = () => undefined;
  await used.decide(bad, { tagIds: [7] });
  await expect.poll(() => toLabels(bad), poll).toMatchObject({ tagIds: [7] });
});

test('while the tickets service is unavailable, decisions wait without using up attempts', async () => {
  const [removed, added] = [used.ticket({ tagIds: [5, 7] }), used.ticket()];
  used.model.isUnavailable = true;
  await used.decide(removed, { tagIds: [5] });
  await used.decide(added, { tagIds: [5] });
  await expect.poll(() => findStored(added), poll).toMatchObject({ attempts: 0, lastError: 'tickets: Unavailable' });
  expect(await findStored(removed)).toBeNull();
  used.model.isUnavailable = false;
  await toExamples().updateOne({ _id: added.id as never }, { $set: { dueAt: new Date(0) } });
  await expect.poll(() => toLabels(removed), poll).toMatchObject({ tagIds: [5] });
  await expect.poll(() => toLabels(added), poll).toMatchObject({ tagIds: [5] });
});

test('of more examples than are learned, those are read that have changed last', async () => {
  const ids = [61, 62, 63];
  for (const id of ids) {
    const ticket = used.ticket();
    await used.decide(ticket, { tagIds: [id] });
    await expect.poll(() => toLabels(ticket), poll).toBeDefined();
  }
  const { connection, close } = await used.openDatabase();
  const nothing = { among: async () => new Set<number>() };
  const unused = { noteErasure: async () => undefined, deleted: { tickets: nothing, tags: nothing } };
  const examples = exampleStore(connection, { format: modelVersion, ...unused });
  const read = async (limit: number) => {
    const found: LabelledFeatures[] = [];
    for await (const batch of examples.newest(limit)) found.push(...batch);
    return found;
  };
  expect((await read(2)).map(({ tagIds }) => tagIds)).toEqual([[63], [62]]);
  expect(await read(1000)).toHaveLength((await examples.counts()).examples);
  const ofNextFormat = exampleStore(connection, { format: modelVersion + 1, ...unused });
  expect(await ofNextFormat.areThere(1)).toBe(false);
  expect([await examples.areThere(3), await examples.areThere(1000)]).toEqual([true, false]);
  await ofNextFormat.readAgain();
  // They are read again, here with the same format as before, and nothing has changed.
  await expect.poll(() => toExamples().countDocuments({ dueAt: { $ne: null } }), poll).toBe(0);
  expect(await toExamples().countDocuments({ 'example.tagIds': 63, revision: 2, lastError: null })).toBe(1);
  await close();
});
