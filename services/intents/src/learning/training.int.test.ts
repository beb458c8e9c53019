import { SpamStatus } from '@ticketing/contracts/ticketing/tickets/v1/enums_pb.ts';
import { createLogger } from '@ticketing/runtime/logger.ts';
import { systemRuntime } from '@ticketing/runtime/runtime.ts';
import type { RunningService } from '@ticketing/service-kit/lifecycle/compose-service.ts';
import type { Database } from '@ticketing/store/connection/database.ts';
import { crashAtEachWrite, crashAtWrite } from '@ticketing/testkit/crash.ts';
import { isDeep } from '@ticketing/testkit/search-effort.ts';
import { mongo } from 'mongoose';
import { Registry } from 'prom-client';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import type { AnalysedStub } from '../../test/analysis-harness.ts';
import { type LearningHarness, startLearningHarness } from '../../test/learning-harness.ts';
import { type SyntheticTicket, syntheticTickets, tagIds } from '../../test/synthetic-tickets.ts';
import { featuresFromBytes } from './features.ts';
import { learnModel } from './learn-model.ts';
import { parseModel, serialiseModel } from './model-codec.ts';
import { openLearning } from './open.ts';
import { train } from './train.ts';

let used: LearningHarness;
let analyser: RunningService | undefined;
let database: Database;
const log = createLogger('test', 'silent');
const poll = { timeout: 30_000, interval: 20 };
const { AUTO_SPAM, AUTO_CLEAN, MANUAL_SPAM, MANUAL_CLEAN } = SpamStatus;
const tickets = syntheticTickets(80);
const stubs: AnalysedStub[] = [];
/** The tag 5 of the stub has a keyword, the tag 7 has none. */
const urgent = tagIds.urgent;

const toStub = ({ text }: SyntheticTicket) => used.ticket({ subject: text.subject ?? '', bodyClean: text.body ?? '' });
const find = (wanted: Partial<SyntheticTicket['labels']>) => {
  const { isSpam, tagIds: tags = [] } = wanted;
  const found = syntheticTickets(200, 2).find(
    ({ labels }) => labels.isSpam === isSpam && labels.tagIds.includes(urgent) === tags.includes(urgent),
  );
  if (!found) throw new Error('There is no such ticket.');
  return found;
};
/** Learns as one more process does. Returns whether it has. */
const learn = (signal = new AbortController().signal) => {
  const metrics = { registry: new Registry() };
  const nothing = { among: async () => new Set<number>() };
  const kit = { database, log, metrics, runtime: systemRuntime, stopping: signal };
  const learning = openLearning(
    kit,
    { tags: () => Promise.reject(new Error('unused')) as never },
    { tickets: nothing, tags: nothing },
  );
  return learnModel(learning, signal);
};

beforeAll(async () => {
  used = await startLearningHarness('api,consumer');
  database = await used.openDatabase();
  for (const one of tickets) {
    const stub = toStub(one);
    stubs.push(stub);
    if (one.labels.isSpam) await used.decide(stub, { spamStatus: MANUAL_SPAM, isSpam: true });
    else await used.decide(stub, { tagIds: one.labels.tagIds.filter((id) => id === urgent) });
  }
  const areNoted = async () => expect(await used.database.collection('examples').countDocuments()).toBe(tickets.length);
  await vi.waitFor(areNoted, poll);
  await used.agent({ name: 'Hurry', detection: { tagIds: [urgent] } });
});
afterAll(async () => {
  await analyser?.stop();
  await database.close();
  await used.stop();
});

async function analysed(ticket: AnalysedStub) {
  await used.client.analyseTicket({ ticketId: ticket.id });
  const [applied] = used.appliedTo(ticket.id);
  return { tagIds: applied?.tagIds, spamStatus: applied?.spamStatus, intents: applied?.intents?.intents.length };
}

test('as long as nothing was learned, nothing is said of tags and spam', async () => {
  const found = await analysed(toStub(find({ isSpam: true, tagIds: [urgent] })));
  expect(found).toEqual({ tagIds: [], spamStatus: undefined, intents: 0 });
});

test('what people have decided is learned by one of the processes', async () => {
  const started = await used.startInstance({ TICKETING_INTENTS_ROLES: 'api,analyser' });
  analyser = started;
  await expect.poll(async () => (await used.newest())?.tickets, poll).toBe(tickets.length);
  const model = await used.newest();
  expect(model?.columns.map(({ task, label }) => `${task} ${label}`)).toEqual(['tag 7', 'spam spam']);
  const metrics = await (await fetch(`http://127.0.0.1:${started.ports.internal}/metrics`)).text();
  for (const line of ['model_version 1', 'model_labels 2', 'model_examples 80', 'training_examples 80']) {
    expect(metrics).toMatch(new RegExp(`^${line.replace(' ', '(\\{.*\\})? ')}$`, 'm'));
  }
});

// guarantee: I20
test('a new ticket gets tag and spam status as people have decided similar ones; on spam nothing is proposed', async () => {
  const clean = () => analysed(toStub(find({ isSpam: false, tagIds: [urgent] })));
  await expect.poll(clean, poll).toEqual({ tagIds: [urgent], spamStatus: AUTO_CLEAN, intents: 1 });
  expect(await analysed(toStub(find({ isSpam: false })))).toEqual({ tagIds: [], spamStatus: AUTO_CLEAN, intents: 0 });
  const spam = find({ isSpam: true, tagIds: [urgent] });
  expect(await analysed(toStub(spam))).toEqual({ tagIds: [], spamStatus: AUTO_SPAM, intents: 0 });
  // A person's spam status is final, and spam is not analysed.
  const kept = Object.assign(toStub(spam), { spamStatus: MANUAL_CLEAN });
  expect(await analysed(kept)).toMatchObject({ tagIds: [urgent], intents: 1 });
  const marked = Object.assign(toStub(spam), { spamStatus: MANUAL_SPAM, isSpam: true });
  expect(await analysed(marked)).toEqual({});
});

test('without a change nothing is learned again, nor after a few changes', async () => {
  expect(await learn()).toBe(false);
  await used.passTime();
  expect(await learn()).toBe(false);
});

// guarantee: F27
test('corrections are learned by the next model, once, however many processes learn', async () => {
  // A model that is old would be learned again after the first correction.
  await used.database.collection('models').updateMany({}, { $set: { trainedAt: new Date() } });
  const corrected = stubs.filter(({ tagIds }) => tagIds.includes(urgent));
  for (const stub of corrected) await used.decide(stub, { tagIds: [5] });
  const isRead = async () =>
    [...((await used.learned())?.values() ?? [])].filter((one) => one.tagIds?.includes(5)).length;
  await expect.poll(isRead, poll).toBe(corrected.length);
  await used.passTime();
  // The analyser may learn it too.
  await Promise.all([learn(), learn()]);
  await expect.poll(async () => (await used.newest())?.version, poll).toBe(2);
  expect((await used.newest())?.columns.map(({ label }) => label)).toEqual(['5', 'spam']);
  expect(await used.database.collection('models').countDocuments()).toBe(2);
  const clean = () => analysed(toStub(find({ isSpam: false, tagIds: [urgent] })));
  await expect.poll(clean, poll).toMatchObject({ tagIds: [5] });
});

// guarantee: E7
test('a deleted ticket is learned from no more, and no model is left that knows it', async () => {
  const [first] = stubs;
  await used.deleteTicket(first?.id ?? 0);
  const count = () => used.database.collection('examples').countDocuments();
  await expect.poll(count, poll).toBe(tickets.length - 1);
  expect(await learn()).toBe(false);
  await used.passTime();
  await learn();
  await expect.poll(async () => (await used.newest())?.tickets, poll).toBe(tickets.length - 1);
  await expect.poll(() => used.database.collection('models').countDocuments(), poll).toBe(1);
  // Nothing of the former models is in it, neither weights to start from nor measurements.
  const { version: _, format, erasures, ...model } = (await used.newest()) ?? {};
  const stored = await used.database.collection('examples').find().toArray();
  const examples = stored.map(({ example: { features, tagIds: tags, isSpam } }) => ({
    features: featuresFromBytes(features.value()),
    ...(tags === null ? {} : { tagIds: tags }),
    ...(isSpam === null ? {} : { isSpam }),
  }));
  expect(model).toEqual(parseModel(serialiseModel(train(examples))));
});

// guarantee: F28
test('a model that is damaged is removed, and learned again; one of another format is passed over', async () => {
  const models = used.database.collection('models');
  const newest = async () => (await models.find().sort({ _id: -1 }).limit(1).toArray())[0];
  const { _id, ...fields } = (await newest()) ?? { format: 0 };
  const damaged = Number(_id) + 1;
  await models.insertMany([
    { ...fields, _id: damaged as never, bytes: new mongo.Binary(Buffer.from('damaged')) },
    { ...fields, _id: (damaged + 1) as never, format: 99, bytes: new mongo.Binary(Buffer.from('of tomorrow')) },
  ]);
  const isRemoved = async () => {
    expect(await analysed(toStub(find({ isSpam: false, tagIds: [urgent] })))).toMatchObject({ tagIds: [5] });
    return models.countDocuments({ _id: damaged as never });
  };
  await expect.poll(isRemoved, poll).toBe(0);
  const format = Number(fields.format);
  await models.deleteMany({ format });
  await learn();
  await expect.poll(newest, poll).toMatchObject({ _id: damaged + 2, format });
});

// guarantee: F27
test('a process that stops while it learns leaves it to another one at once; after a failure there is a pause', async () => {
  await analyser?.stop();
  analyser = undefined;
  await used.passTime();
  const [examples, training] = ['examples', 'training'].map((name) => used.database.collection(name));
  const stored = await examples?.findOneAndUpdate(
    {},
    { $set: { changedAt: new Date(), 'example.features': 'broken' } },
  );
  await expect(learn(AbortSignal.abort())).rejects.toThrow('aborted');
  expect(await learn()).toBe(false);
  expect(await training?.findOne()).toMatchObject({ lease: null, failures: 1, lastError: 'failed' });
  await examples?.updateOne({ _id: stored?._id as never }, { $set: { 'example.features': stored?.example.features } });
  expect(await learn()).toBe(false);
  await training?.updateOne({}, { $set: { notBefore: new Date(0) } });
  expect(await learn()).toBe(true);
  expect(await training?.findOne()).toMatchObject({ lease: null, failures: 0, lastError: null });
});

// guarantee: F27
test('a process that dies while it learns leaves everything to the next one', async () => {
  const attempt = async (nth: number, when: 'before' | 'after') => {
    await used.passTime();
    await used.database.collection('examples').updateOne({}, { $set: { changedAt: new Date() } });
    const before = (await used.newest())?.version ?? 0;
    const hasCrashed = await crashAtWrite(nth, when, () => learn());
    await used.database.collection('training').updateMany({}, { $set: { lease: null } });
    await learn();
    const after = await used.newest();
    expect(after?.tickets).toBe(tickets.length - 1);
    expect((after?.version ?? 0) - before).toBe(1);
    return hasCrashed;
  };
  // The third of the five writes stores the model, the fourth removes older ones.
  // A training that takes long also renews its lease.
  if (isDeep) expect(await crashAtEachWrite(attempt)).toBeGreaterThanOrEqual(5);
  else expect([await attempt(4, 'before'), await attempt(3, 'before')]).toEqual([true, true]);
  expect(await used.database.collection('models').countDocuments()).toBe(3);
});
