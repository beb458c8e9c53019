import { Channel } from '@ticketing/contracts/ticketing/tickets/v1/enums_pb.ts';
import { expect, test } from 'vitest';
import { type AiAgentState, executableByDefault } from '../../agent/rules/agent.ts';
import { noExecutor } from '../../agent/rules/executor.ts';
import { buildProposals } from './proposals.ts';

const agent: AiAgentState = {
  ...{ id: 3, version: 1, slug: 'refund', name: 'Refund', description: null, enabled: true, channels: [] },
  detection: { keywords: ['Refund'], tagIds: [], minConfidence: null },
  ...{ customerNeeded: false, parameters: null, executor: noExecutor, autoExecuteAfterMinutes: 10 },
  ...{ executableBy: executableByDefault, allowClosed: null },
  options: [{ type: 'pay', name: 'Pay', icon: null, recommended: true, order: 1 }],
  ...{ createdAt: 0, modifiedAt: 0 },
};
const ticket = {
  ...{ channel: Channel.EMAIL, customerId: 'C-1', contractId: 'V-1', recipients: ['a@example.org', 'b@example.org'] },
  ...{ tags: new Map(), keywords: new Set(['Refund']), isTimely: true },
};

function propose(parameters: AiAgentState['parameters']) {
  const [proposal] = buildProposals(ticket, [{ ...agent, parameters }], 1000);
  return proposal;
}

const amount = { type: 'integer', default: 5 };

test('an intent has the data that its JSON Schema gives as defaults, and no other', () => {
  expect(propose(null)).toMatchObject({ data: null, infos: [], autoExecuteAt: 1600 });
  expect(propose({ properties: { contractId: { type: 'string' }, any: true } })).toMatchObject({ data: null });
  const properties = { amount, nothing: { default: null }, inner: { properties: { deep: { default: 1 } } } };
  expect(propose({ properties, required: ['amount'] })).toMatchObject({
    data: { amount: 5, nothing: null },
    infos: [],
    autoExecuteAt: 1600,
    recipient: 'a@example.org, b@example.org',
  });
});

test('an intent of a ticket from long ago waits for a person', () => {
  expect(buildProposals({ ...ticket, isTimely: false }, [agent], 1000)).toMatchObject([{ autoExecuteAt: null }]);
});

test('an intent whose data is not enough says why it would be refused, and is not executed by the system', () => {
  expect(propose({ properties: { amount }, required: ['amount', 'reason'] })).toMatchObject({
    data: { amount: 5 },
    infos: [{ type: 'invalid_data', message: expect.stringContaining('reason'), extraInfo: '#/data' }],
    autoExecuteAt: null,
  });
  const wrong = propose({ properties: { amount: { ...amount, minimum: 6 } } });
  expect(wrong?.infos).toMatchObject([{ type: 'invalid_data', extraInfo: '#/data/amount' }]);
});

test.each([
  [10, 10],
  [11, 10],
])('of %i reasons %i are listed', (count, listed) => {
  const properties = Object.fromEntries(
    Array.from({ length: count }, (_, index) => [`p${index}`, { type: 'string', default: index }]),
  );
  expect(propose({ properties })?.infos).toHaveLength(listed);
});
