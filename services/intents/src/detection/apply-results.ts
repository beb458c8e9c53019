import type { MessageInitShape } from '@bufbuild/protobuf';
import { type Client, Code, ConnectError } from '@connectrpc/connect';
import type {
  AnalysisService,
  AppliedAnalysis,
  ApplyAnalysisRequestSchema,
} from '@ticketing/contracts/ticketing/tickets/v1/analysis_service_pb.ts';
import { AiSupportLevel, SpamStatus } from '@ticketing/contracts/ticketing/tickets/v1/enums_pb.ts';
import { TicketIntentStatus } from '@ticketing/contracts/ticketing/tickets/v1/intent_pb.ts';
import { toTimestamp } from '@ticketing/rest/codec/date-time.ts';
import type { OnBehalfOf } from '@ticketing/service-kit/client/service-client.ts';
import { type IntentState, intentToProto, nextAutoExecution } from '../intent/rules/intent.ts';
import type { IntentStore } from '../intent/store.ts';
import type { AnalysisResult } from './rules/analysis-result.ts';

/** The dependencies of `applyResults`. */
export interface ApplyContext {
  intents: Pick<IntentStore, 'propose' | 'ofTickets'>;
  analysis(call: OnBehalfOf): Pick<Client<typeof AnalysisService>, 'applyAnalyses'>;
}

/** A result, its ticket, and the id of the analysis. */
export interface AnalysisToApply {
  ticketId: number;
  runId: string;
  result: AnalysisResult;
}

/** The user of an execution by the system. */
const systemUserId = 0;
/** The most bytes of intents that are sent at once. */
const maxBytes = 1024 * 1024;

/**
 * Stores the results of analyses of different tickets: the intents here, then everything in the ticket as one change. A
 * repetition with the same result does not change a ticket again. Returns the error of each, which the tickets service has
 * named; undefined if it was applied.
 *
 * Errors: store_unavailable; those of the call of the tickets service, as ConnectError.
 */
export async function applyResults(
  { intents, analysis }: ApplyContext,
  { trace, signal }: OnBehalfOf,
  results: readonly AnalysisToApply[],
): Promise<(ConnectError | undefined)[]> {
  await intents.propose(
    results.flatMap(({ ticketId, result: { proposals } }) => (proposals ? [{ ticketId, proposals }] : [])),
  );
  const errors: (ConnectError | undefined)[] = [];
  while (errors.length < results.length) {
    const waiting = results.slice(errors.length);
    const ticketIds = waiting.flatMap(({ ticketId, result }) => (result.proposals ? [ticketId] : []));
    const { intents: shown, remainingIds } = await intents.ofTickets(ticketIds, maxBytes);
    const end = waiting.findIndex(({ ticketId }) => remainingIds.includes(ticketId));
    const requests = waiting.slice(0, end < 0 ? undefined : end).map((one) => toRequest(one, shown.get(one.ticketId)));
    const { analyses } = await analysis({ trace, signal }).applyAnalyses({ analyses: requests });
    errors.push(...requests.map((_, index) => toError(analyses[index])));
  }
  return errors;
}

function toError(outcome: AppliedAnalysis | undefined): ConnectError | undefined {
  if (outcome?.version !== undefined) return undefined;
  return new ConnectError(outcome?.reason ?? 'not applied', outcome?.code ?? Code.Internal);
}

function toRequest(
  { ticketId, runId: analysisId, result }: AnalysisToApply,
  shown: readonly IntentState[] | undefined,
): MessageInitShape<typeof ApplyAnalysisRequestSchema> {
  const { ticketVersion, isRefresh, text, tagIds, isSpam } = result;
  return {
    ...{ ticketId, analysisId, ticketVersion, isRefresh, tagIds: [...tagIds] },
    ...(text === null ? {} : { text: textToProto(text) }),
    ...(isSpam === null ? {} : { spamStatus: isSpam ? SpamStatus.AUTO_SPAM : SpamStatus.AUTO_CLEAN }),
    ...(shown ? { intents: intentsToProto(shown, result) } : {}),
  };
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
