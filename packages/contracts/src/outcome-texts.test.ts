import { create, equals } from '@bufbuild/protobuf';
import { expect, test } from 'vitest';
import { ContentType, DeliveryStatus, NotSentReason } from './gen/ticketing/tickets/v1/conversation_pb.ts';
import { IntentOutcomeSchema } from './gen/ticketing/tickets/v1/intent_pb.ts';
import { outcomeFromTexts, outcomeToTexts } from './outcome-texts.ts';

const known = { responseCode: 'ok', success: true, txId: 'tx_1', internalData: { 'a.$b': [1, { __proto__x: null }] } };
const message = {
  ...{ messageType: ContentType.HTML, conversationId: 31, deliveryStatus: DeliveryStatus.NONE },
  notSentReason: NotSentReason.NO_RECIPIENT,
};

test('an outcome is the same after it was stored, and an earlier version reads the fields that it knows', () => {
  const outcome = create(IntentOutcomeSchema, { ...known, ...message });
  const texts = outcomeToTexts(outcome);
  expect(equals(IntentOutcomeSchema, outcomeFromTexts(texts.outcome, texts.outcomeMessage), outcome)).toBe(true);
  const earlier = create(IntentOutcomeSchema, known);
  expect(equals(IntentOutcomeSchema, outcomeFromTexts(texts.outcome, undefined), earlier)).toBe(true);
  expect(Object.keys(JSON.parse(texts.outcome)).sort()).toEqual(Object.keys(known).sort());
  expect(Object.keys(JSON.parse(texts.outcomeMessage ?? '')).sort()).toEqual(Object.keys(message).sort());
  expect(outcomeToTexts(earlier)).toEqual({ outcome: texts.outcome });
});

test('a field that only a later version knows is ignored', () => {
  expect(outcomeFromTexts('{"txId":"tx_1","later":1}', '{"notSentReason":"LATER"}').txId).toBe('tx_1');
});
