import { AiSupportLevel, SpamStatus } from '@ticketing/contracts/ticketing/tickets/v1/enums_pb.ts';
import { TicketIntentStatus } from '@ticketing/contracts/ticketing/tickets/v1/intent_pb.ts';
import { toTimestamp } from '@ticketing/rest/codec/date-time.ts';
import type { OnBehalfOf } from '@ticketing/service-kit/client/service-client.ts';
import type { Context } from '../context.ts';
import { type IntentState, intentMessage, nextAutoExecution } from '../intent/rules/intent.ts';
import type { AnalysisResult } from './rules/analysis-result.ts';

/** The user of an execution by the system. */
const systemUserId = 0;

/**
 * Stores the result of an analysis: the intents here, then everything in the ticket as one change. A repetition with
 * the same result does not change the ticket again.
 *
 * Errors: store_unavailable; those of the tickets service, as ConnectError.
 */
export async function applyResult(
  context: Context,
  { trace, signal }: OnBehalfOf,
  { ticketId, runId: analysisId, result }: { ticketId: number; runId: string; result: AnalysisResult },
): Promise<void> {
  const { ticketVersion, isRefresh, text, tagIds, isSpam, proposals } = result;
  if (proposals) await propose(context, { ticketId, proposals });
  await context.analysis({ trace, signal }).applyAnalysis({
    ticketId,
    analysisId,
    ticketVersion,
    isRefresh,
    tagIds: [...tagIds],
    ...(text === null ? {} : { text: textMessage(text) }),
    ...(isSpam === null ? {} : { spamStatus: isSpam ? SpamStatus.AUTO_SPAM : SpamStatus.AUTO_CLEAN }),
    ...(proposals ? { intents: intentsMessage(await context.intents.ofTicket(ticketId), result) } : {}),
  });
}

async function propose(
  { deleted, intents }: Context,
  proposals: Parameters<Context['intents']['propose']>[0],
): Promise<void> {
  await intents.propose(proposals);
  // The erasure of a ticket that was deleted meanwhile has not seen these intents.
  await intents.erase([...(await deleted.tickets.among([proposals.ticketId]))]);
}

const languageNames = new Intl.DisplayNames('en', { type: 'language' });

function textMessage({ languageCode, sentiment, summary }: NonNullable<AnalysisResult['text']>) {
  return {
    ...(languageCode === null ? {} : { languageCode, language: languageNames.of(languageCode) ?? languageCode }),
    ...(sentiment === null ? {} : { sentiment }),
    ...(summary === null ? {} : { summary }),
  };
}

function intentsMessage(intents: readonly IntentState[], { restarts }: AnalysisResult) {
  const autoExecuteAt = nextAutoExecution(intents);
  return {
    intents: intents.map(intentMessage),
    aiSupportLevel: levelOf(intents, restarts),
    ...(autoExecuteAt === null ? {} : { autoExecuteAt: toTimestamp(autoExecuteAt) }),
  };
}

/** Returns how far AI has processed a ticket. Source: docs/reference/api.md, AI support level. */
function levelOf(intents: readonly IntentState[], restarts: boolean): AiSupportLevel {
  const byUser = (outcome: IntentState['outcome']) => outcome?.userId !== systemUserId;
  if (!restarts && intents.some(({ outcome }) => outcome?.success && !byUser(outcome))) return AiSupportLevel.AUTOMATED;
  const isOffered = ({ status, options }: IntentState) =>
    status === TicketIntentStatus.READY && options.some(({ recommended }) => recommended);
  return intents.some(isOffered) ? AiSupportLevel.BOT : AiSupportLevel.HUMAN;
}
