import { describe, expect, test } from 'vitest';
import { executionFindings, judgeExecutions, type ObservedExecutions, type ShownIntent } from './execution-verdict.ts';
import type { ShownExecution } from './ledger.ts';
import type { ReadMessage } from './verdict.ts';

const executed = (id: number, txId: string, success = true): ShownIntent => ({
  id,
  status: 'executed',
  outcome: { txId, success },
});
const event = (ticketId: number, version: number): ReadMessage => ({
  ...{
    subject: `ticket ${ticketId}`,
    version,
    isDeletion: false,
    agentId: undefined,
    status: undefined,
    isReopening: false,
  },
  event: {
    ...{ id: `evt_${ticketId}_${version}`, ticketId, version, type: 'intent.executed', cause: 'execution' },
    ...{ subchannelId: undefined, conversationId: undefined },
  },
});

/** Intent 1 was carried out after one refusal; the result of intent 2 is unknown; 3 is ready; 4 was of ticket 9. */
function given() {
  const executions: ShownExecution[] = [
    { ticketId: 1, intentId: 1, txId: 'refused', success: false, responseCode: 'http_422' },
    { ticketId: 1, intentId: 1, txId: 'a', success: true, responseCode: 'ok' },
    { ticketId: 1, intentId: undefined, txId: 'a', success: true, responseCode: 'ok' },
    { ticketId: 2, intentId: 2, txId: 'b', success: false, responseCode: 'unknown' },
    { ticketId: 9, intentId: 4, txId: 'd', success: true, responseCode: 'ok' },
  ];
  const calls = [
    { txId: 'refused', ticketId: 1, intentId: 1, hasEffect: false },
    { txId: 'a', ticketId: 1, intentId: 1, hasEffect: true },
    { txId: 'b', ticketId: 2, intentId: 2, hasEffect: true },
    { txId: 'd', ticketId: 9, intentId: 4, hasEffect: true },
  ];
  const analysed = new Map([
    [1, { aiSupportLevel: 'automated', intents: [executed(1, 'a')] }],
    [2, { aiSupportLevel: 'bot', intents: [executed(2, 'b', false), { id: 3, status: 'ready', outcome: undefined }] }],
  ]);
  return { executions, observed: { calls, analysed, messages: [event(1, 2), event(2, 2)] } };
}

type Given = { executions: ShownExecution[]; observed: ObservedExecutions };

const listFindings = ({ executions, observed }: Given) => executionFindings(judgeExecutions({ executions }, observed));

test('a run in which each intent was carried out once is right', () => {
  const { executions, observed } = given();
  expect(listFindings({ executions, observed })).toEqual([]);
  expect(judgeExecutions({ executions }, observed)).toMatchObject({ acknowledged: 5, proposed: 3, effects: 3 });
});

describe('finds', () => {
  const call = { ticketId: 1, intentId: 1, hasEffect: true };
  const with1 = (observed: ObservedExecutions, intents: ShownIntent[], aiSupportLevel = 'automated') => ({
    ...observed,
    analysed: new Map([...observed.analysed, [1, { aiSupportLevel, intents }]]),
  });
  test.each<[string, (all: Given) => Given, string]>([
    [
      'a call that is repeated',
      ({ executions, observed }) => ({
        executions,
        observed: { ...observed, calls: [...observed.calls, { ...call, txId: 'refused', hasEffect: false }] },
      }),
      'the backend system was called twice for execution refused',
    ],
    [
      'an intent that is carried out twice',
      ({ executions, observed }) => ({
        executions,
        observed: { ...observed, calls: [...observed.calls, { ...call, txId: 'e' }] },
      }),
      'intent 1 was carried out twice',
    ],
    [
      'a success without a call',
      ({ executions, observed }) => ({
        executions: [...executions, { ticketId: 9, intentId: 5, txId: 'f', success: true, responseCode: 'ok' }],
        observed,
      }),
      'execution f of ticket 9, which was acknowledged with ok, was not carried out',
    ],
    [
      'a failure that was carried out',
      ({ executions, observed }) => ({
        executions: executions.map((one) =>
          one.txId === 'd' ? { ...one, success: false, responseCode: 'http_422' } : one,
        ),
        observed,
      }),
      'execution d of ticket 9, which was acknowledged with http_422, was carried out',
    ],
    [
      'a result that is not shown',
      ({ executions, observed }) => ({ executions, observed: with1(observed, [executed(1, 'x')]) }),
      'execution a of ticket 1, which was acknowledged with ok, is not shown',
    ],
    [
      'a result that is shown differently',
      ({ executions, observed }) => ({ executions, observed: with1(observed, [executed(1, 'a', false)]) }),
      'execution a of ticket 1, which was acknowledged with ok, is shown with another result',
    ],
    [
      'an effect that is forgotten',
      ({ observed }) => ({
        executions: [],
        observed: with1(observed, [{ id: 1, status: 'ready', outcome: undefined }]),
      }),
      'intent 1 was carried out, but is shown as ready',
    ],
    [
      'an execution without its event',
      ({ executions, observed }) => ({ executions, observed: { ...observed, messages: [event(2, 2)] } }),
      'ticket 1 has 1 executed intents, but 0 events of them',
    ],
    [
      'a ticket that was not analysed',
      ({ executions, observed }) => ({ executions, observed: with1(observed, [executed(1, 'a')], 'unprocessed') }),
      'ticket 1 was not analysed',
    ],
    [
      'a run without any effect',
      ({ observed }) => ({ executions: [], observed: { ...observed, calls: [] } }),
      'no intent was carried out',
    ],
  ])('%s', (_, change, finding) => {
    expect(listFindings(change(given()))).toContain(finding);
  });
});
