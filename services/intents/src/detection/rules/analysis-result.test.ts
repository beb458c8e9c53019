import { Channel, SpamStatus } from '@ticketing/contracts/ticketing/tickets/v1/enums_pb.ts';
import { ConfidenceColor } from '@ticketing/contracts/ticketing/tickets/v1/intent_pb.ts';
import { expect, test } from 'vitest';
import { type AiAgentState, executableByDefault } from '../../agent/rules/agent.ts';
import { noExecutor } from '../../agent/rules/executor.ts';
import { decideResult } from './analysis-result.ts';
import type { Detected } from './detected.ts';

const agent: AiAgentState = {
  ...{ id: 3, version: 1, slug: 'close', name: 'Close', description: null, enabled: true, channels: [] },
  detection: { keywords: [], tagIds: [5], minConfidence: 0.6 },
  ...{ customerNeeded: false, parameters: null, executor: noExecutor, autoExecuteAfterMinutes: 10 },
  ...{ executableBy: executableByDefault, allowClosed: null },
  options: [{ type: 'close', name: 'Close', icon: null, recommended: true, order: 1 }],
  ...{ createdAt: 0, modifiedAt: 0 },
};
const ticket = {
  ...{ version: 4, channel: Channel.EMAIL, tagIds: [], customerId: null, contractId: 'V-1', recipients: [] },
  ...{ spamStatus: null, isClosed: false },
};
const detected: Detected = {
  ...{ languageCode: 'de', sentiment: null, summary: null, spam: null, keywords: [] },
  tags: [{ label: 5, confidence: 0.6 }],
};
const all = { text: true, tags: true, spam: true, intents: true, isRefresh: false, restarts: false, isTimely: true };
const decide = (changes: object, found: Partial<Detected> = {}, agents = [agent]) =>
  decideResult({ ...ticket, ...changes }, all, { ...detected, ...found }, { agents, now: 1000 });

test.each([
  [0.59, undefined],
  [0.6, ConfidenceColor.WARNING],
  [0.79, ConfidenceColor.WARNING],
  [0.8, ConfidenceColor.SUCCESS],
])('a detected tag of confidence %s proposes with the colour %s', (confidence, color) => {
  const { proposals } = decide({}, { tags: [{ label: 5, confidence }] });
  expect(proposals?.map((one) => one.confidenceColor)).toEqual(color === undefined ? [] : [color]);
});

test('a tag that the ticket has is certain, whatever was detected', () => {
  expect(decide({ tagIds: [5] }).proposals).toMatchObject([{ confidence: 1, autoExecuteAt: 1600 }]);
});

test('only an intent with a recommended option is executed by the system', () => {
  const options = agent.options.map((option) => ({ ...option, recommended: false }));
  expect(decide({}, {}, [{ ...agent, options }]).proposals).toMatchObject([{ autoExecuteAt: null }]);
});

test.each([
  ['becomes spam', null, []],
  ['was cleared by a person', SpamStatus.MANUAL_CLEAN, [5]],
])('a ticket that looks like spam and %s', (_, spamStatus, tagIds) => {
  const result = decide({ spamStatus }, { spam: { isSpam: true, confidence: 0.9 } });
  expect(result).toMatchObject({ isSpam: true, tagIds });
  expect(result.proposals).toHaveLength(tagIds.length);
});

test('at most 100 tags are proposed', () => {
  const tags = Array.from({ length: 101 }, (_, index) => ({ label: index + 1, confidence: 1 }));
  expect(decide({}, { tags: tags.slice(0, 100) }).tagIds).toHaveLength(100);
  expect(decide({}, { tags }).tagIds).toHaveLength(100);
});
