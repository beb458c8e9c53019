import type { Ledger, ShownExecution } from './ledger.ts';
import type { ReadMessage } from './verdict.ts';

/** A call that has arrived at the backend system. */
export interface BackendCall {
  txId: string;
  ticketId: number;
  intentId: number;
  hasEffect: boolean;
}

/** An intent, as its ticket shows it at the end. */
export interface ShownIntent {
  id: number;
  status: string;
  /** Undefined if it was not executed. */
  outcome: { txId: string; success: boolean } | undefined;
}

/** A ticket, as far as it was analysed, at the end. */
export interface AnalysedTicket {
  aiSupportLevel: string;
  intents: readonly ShownIntent[];
}

/** The result about intents: counts, and a sentence for each thing that is wrong. */
export interface ExecutionVerdict {
  /** Responses with a result. */
  acknowledged: number;
  proposed: number;
  effects: number;
  twice: string[];
  wrongResults: string[];
  wrongEvents: string[];
  notAnalysed: string[];
}

/** The calls, tickets and events that were read at the end. */
export interface ObservedExecutions {
  calls: readonly BackendCall[];
  /** All tickets that are shown. */
  analysed: ReadonlyMap<number, AnalysedTicket>;
  messages: readonly ReadMessage[];
}

/**
 * Compares the executions that were acknowledged with the calls of the backend system and with what is shown.
 *
 * Source: docs/reference/guarantees.md, Faults.
 */
export function judgeExecutions(
  { executions }: Pick<Ledger, 'executions'>,
  observed: ObservedExecutions,
): ExecutionVerdict {
  const { calls, analysed, messages } = observed;
  const effects = calls.filter(({ hasEffect }) => hasEffect);
  const intents = [...analysed.values()].flatMap((ticket) => ticket.intents);
  return {
    acknowledged: executions.length,
    proposed: intents.length,
    effects: effects.length,
    twice: [
      ...repeated(calls, ({ txId }) => txId).map((txId) => `the backend system was called twice for execution ${txId}`),
      ...repeated(effects, ({ intentId }) => intentId).map((id) => `intent ${id} was carried out twice`),
    ],
    wrongResults: [
      ...(effects.length === 0 ? ['no intent was carried out'] : []),
      ...executions.flatMap((execution) => wrongResponse(execution, effects, analysed)),
      ...intents.flatMap((intent) => inventedResult(intent, effects)),
      ...effects.flatMap((effect) => forgottenEffect(effect, analysed)),
    ],
    wrongEvents: [...analysed].flatMap(([id, ticket]) => missingEvents(id, ticket, messages)),
    notAnalysed: [...analysed].flatMap(([id, { aiSupportLevel }]) =>
      aiSupportLevel === 'unprocessed' ? [`ticket ${id} was not analysed`] : [],
    ),
  };
}

/** A sentence for each thing that is wrong. */
export function executionFindings({ twice, wrongResults, wrongEvents, notAnalysed }: ExecutionVerdict): string[] {
  return [...twice, ...wrongResults, ...wrongEvents, ...notAnalysed];
}

function repeated<Item, Key>(items: readonly Item[], keyOf: (item: Item) => Key): Key[] {
  return [...Map.groupBy(items, keyOf)].filter(([, same]) => same.length > 1).map(([key]) => key);
}

/** A response must agree with the effects at the backend system, and with the intent that is shown at the end. */
function wrongResponse(
  { ticketId, intentId, txId, success, responseCode }: ShownExecution,
  effects: readonly BackendCall[],
  analysed: ReadonlyMap<number, AnalysedTicket>,
): string[] {
  const what = `execution ${txId} of ticket ${ticketId}, which was acknowledged with ${responseCode}`;
  const hasEffect = effects.some((effect) => effect.txId === txId);
  if (success && !hasEffect) return [`${what}, was not carried out`];
  if (!success && responseCode !== 'unknown' && hasEffect) return [`${what}, was carried out`];
  const ticket = analysed.get(ticketId);
  if (!ticket || !(success || responseCode === 'unknown')) return [];
  const shown = ticket.intents.find((intent) => intent.outcome?.txId === txId);
  if (!shown) return [`${what}, is not shown`];
  if (intentId !== undefined && shown.id !== intentId) return [`${what}, is shown for intent ${shown.id}`];
  return shown.outcome?.success === success ? [] : [`${what}, is shown with another result`];
}

function inventedResult({ id, outcome }: ShownIntent, effects: readonly BackendCall[]): string[] {
  const hasEffect = effects.some((effect) => effect.intentId === id);
  return outcome?.success && !hasEffect ? [`intent ${id} is shown as carried out, but was not`] : [];
}

function forgottenEffect({ intentId, ticketId }: BackendCall, analysed: ReadonlyMap<number, AnalysedTicket>): string[] {
  const ticket = analysed.get(ticketId);
  const status = ticket?.intents.find(({ id }) => id === intentId)?.status ?? 'missing';
  return !ticket || status === 'executed' ? [] : [`intent ${intentId} was carried out, but is shown as ${status}`];
}

function missingEvents(ticketId: number, { intents }: AnalysedTicket, messages: readonly ReadMessage[]): string[] {
  const executed = intents.filter(({ status }) => status === 'executed').length;
  const events = messages.filter(
    ({ event }) => event?.ticketId === ticketId && event.type === 'intent.executed',
  ).length;
  return events < executed ? [`ticket ${ticketId} has ${executed} executed intents, but ${events} events of them`] : [];
}
