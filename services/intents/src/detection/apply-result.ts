import type { Client } from '@connectrpc/connect';
import type { AnalysisService } from '@ticketing/contracts/ticketing/tickets/v1/analysis_service_pb.ts';
import { AiSupportLevel, SpamStatus } from '@ticketing/contracts/ticketing/tickets/v1/enums_pb.ts';
import { TicketIntentStatus } from '@ticketing/contracts/ticketing/tickets/v1/intent_pb.ts';
import { toTimestamp } from '@ticketing/rest/codec/date-time.ts';
import type { OnBehalfOf } from '@ticketing/service-kit/client/service-client.ts';
import { type IntentState, intentToProto, nextAutoExecution } from '../intent/rules/intent.ts';
import type { IntentStore } from '../intent/store.ts';
import type { AnalysisResult } from './rules/analysis-result.ts';

/** The dependencies of `applyResult`. */
export interface ApplyContext {
  intents: Pick<IntentStore, 'propose' | 'ofTicket'>;
  analysis(call: OnBehalfOf): Pick<Client<typeof AnalysisService>, 'applyAnalysis'>;
}

/** A result, its ticket, and the id of the analysis. */
export interface AnalysisToApply {
  ticketId: number;
  runId: string;
  result: AnalysisResult;
}

/** The user of an execution by the system. */
const systemUserId = 0;

/**
 * Stores the result of an analysis: the intents here, then everything in the ticket as one change. A repetition with
 * the same result does not change the ticket again.
 *
 * Errors: store_unavailable; those of the tickets service, as ConnectError.
 */
export async function applyResult(
  { intents, analysis }: ApplyContext,
  { trace, signal }: OnBehalfOf,
  { ticketId, runId: analysisId, result }: AnalysisToApply,
): Promise<void> {
  const { ticketVersion, isRefresh, text, tagIds, isSpam, proposals } = result;
  if (proposals) await intents.propose({ ticketId, proposals });
  await analysis({ trace, signal }).applyAnalysis({
    ticketId,
    analysisId,
    ticketVersion,
    isRefresh,
    tagIds: [...tagIds],
    ...(text === null ? {} : { text: textToProto(text) }),
    ...(isSpam === null ? {} : { spamStatus: isSpam ? SpamStatus.AUTO_SPAM : SpamStatus.AUTO_CLEAN }),
    ...(proposals ? { intents: intentsToProto(await intents.ofTicket(ticketId), result) } : {}),
  });
}

const languageNames = new Intl.DisplayNames('en', { type: 'language' });

function textToProto({ languageCode, sentiment, summary }: NonNullable<AnalysisResult['text']>) {
  return {
    ...(languageCode === null ? {} : { languageCode, language: languageNames.of(languageCode) ?? languageCode }),
    ...(sentiment === null ? {} : { sentiment }),
    ...(summary === null ? {} : { summary }),
  };
}

function intentsToProto(intents: readonly IntentState[], { restarts }: AnalysisResult) {
  const autoExecuteAt = nextAutoExecution(intents);
  return {
    intents: intents.map(intentToProto),
    aiSupportLevel: supportLevel(intents, restarts),
    ...(autoExecuteAt === null ? {} : { autoExecuteAt: toTimestamp(autoExecuteAt) }),
  };
}

/** Returns how far AI has processed a ticket. Source: docs/reference/api.md, AI support level. */
function supportLevel(intents: readonly IntentState[], restarts: boolean): AiSupportLevel {
  const byUser = (outcome: IntentState['outcome']) => outcome?.userId !== systemUserId;
  if (!restarts && intents.some(({ outcome }) => outcome?.success && !byUser(outcome))) return AiSupportLevel.AUTOMATED;
  const isOffered = ({ status, options }: IntentState) =>
    status === TicketIntentStatus.READY && options.some(({ recommended }) => recommended);
  return intents.some(isOffered) ? AiSupportLevel.BOT : AiSupportLevel.HUMAN;
}
