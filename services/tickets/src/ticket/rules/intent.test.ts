import { ConfidenceColor, TicketIntentStatus } from '@ticketing/contracts/ticketing/tickets/v1/intent_pb.ts';
import { expect, test } from 'vitest';
import { changedIntents, type IntentState } from './intent.ts';

const intent: IntentState = {
  ...{ id: 7, aiAgentId: 4, code: 'a', name: 'A', contractId: null, confidence: null, verified: false },
  ...{ confidenceColor: ConfidenceColor.SUCCESS, status: TicketIntentStatus.READY, messagePreview: null },
  ...{ recipient: null, data: null, options: [], infos: [], outcome: null },
};
const executed = { ...intent, status: TicketIntentStatus.EXECUTED, outcome: '{"txId":"tx_1"}' };
const withMessage = { ...executed, outcomeMessage: '{"conversationId":31}' };

test('an executed intent stays executed', () => {
  expect(changedIntents([executed], [intent])).toEqual([executed]);
  expect(changedIntents([intent], [executed])).toEqual([executed]);
});

test('a process of an earlier version does not take the message of an outcome away', () => {
  const before = [withMessage];
  expect(changedIntents(before, [executed])).toBe(before);
  expect(changedIntents([executed], [withMessage])).toEqual([withMessage]);
  const again = { ...executed, outcome: '{"txId":"tx_2"}' };
  expect(changedIntents(before, [again])).toEqual([again]);
});
