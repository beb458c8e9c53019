import type {
  ApplyAnalysisRequest,
  ApplyAnalysisResponse,
} from '@ticketing/contracts/ticketing/tickets/v1/analysis_service_pb.ts';
import type { Call } from '@ticketing/service-kit/call/call.ts';
import type { Context } from '../context.ts';
import { eventHeaderOf } from '../event-header.ts';
import { intentStates } from '../ticket/intent-to-proto.ts';
import { slaRulesOf } from '../ticket/read-sla.ts';
import { type Analysis, decideAnalysis } from './rules.ts';

/**
 * Stores the result of an analysis in its ticket, once.
 *
 * Errors: ticket_not_found, concurrent_change. Source: docs/reference/api.md, Detection.
 */
export async function applyAnalysis(
  context: Context,
  call: Call,
  request: ApplyAnalysisRequest,
): Promise<ApplyAnalysisResponse> {
  const analysis = readAnalysis(request);
  const sla = await slaRulesOf(context, await context.tags.tree());
  const { spamDetectionTagId: spamTagId } = await context.settings();
  const { ticket } = await context.commit({
    ticketId: request.ticketId,
    decide: ({ ticket: before }) =>
      decideAnalysis(before, analysis, { now: context.now(), sla, spamTagId, header: eventHeaderOf(context, call) }),
    requestId: request.analysisId,
  });
  return { $typeName: 'ticketing.tickets.v1.ApplyAnalysisResponse', version: ticket.version };
}

function readAnalysis({ ticketVersion, isRefresh, text, tagIds, spamStatus, intents }: ApplyAnalysisRequest): Analysis {
  return {
    ticketVersion,
    isRefresh,
    text: text && {
      sentiment: text.sentiment ?? null,
      language: text.language ?? null,
      languageCode: text.languageCode ?? null,
      summary: text.summary ?? null,
    },
    tagIds,
    spamStatus,
    intents: intents && {
      intents: intentStates(intents.intents),
      aiSupportLevel: intents.aiSupportLevel,
      autoExecuteAt: intents.autoExecuteAt ? Number(intents.autoExecuteAt.seconds) : null,
    },
  };
}
