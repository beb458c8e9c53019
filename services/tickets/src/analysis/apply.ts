import type {
  ApplyAnalysisRequest,
  ApplyAnalysisResponse,
} from '@ticketing/contracts/ticketing/tickets/v1/analysis_service_pb.ts';
import { type Runtime, secondsNow } from '@ticketing/runtime/runtime.ts';
import type { Call } from '@ticketing/service-kit/call/call.ts';
import type { CustomerDirectory } from '../customer/directory.ts';
import { eventHeaderFor } from '../event-header.ts';
import type { ReadSettings } from '../settings.ts';
import type { TagStore } from '../tag/store.ts';
import type { Commit } from '../ticket/commit.ts';
import { intentStates } from '../ticket/intent-to-proto.ts';
import { slaRulesWith } from '../ticket/plan-patch.ts';
import type { TicketStore } from '../ticket/store/store.ts';
import { type Analysis, decideAnalysis } from './rules.ts';

/** The dependencies of the handlers that store analyses and executions of intents. */
export interface AnalysisDeps {
  tickets: Pick<TicketStore, 'versions'>;
  tags: Pick<TagStore, 'tree'>;
  settings: ReadSettings;
  customers: CustomerDirectory;
  commit: Commit;
  runtime: Runtime;
}

/**
 * Stores the result of an analysis in its ticket, once.
 *
 * Errors: ticket_not_found, concurrent_change. Source: docs/reference/api.md, Detection.
 */
export async function applyAnalysis(
  deps: AnalysisDeps,
  call: Call,
  request: ApplyAnalysisRequest,
): Promise<ApplyAnalysisResponse> {
  const analysis = readAnalysis(request);
  const sla = await slaRulesWith(deps, await deps.tags.tree());
  const { spamDetectionTagId: spamTagId } = await deps.settings();
  const { ticket } = await deps.commit({
    ticketId: request.ticketId,
    decide({ ticket: before }) {
      const now = secondsNow(deps.runtime);
      return decideAnalysis(before, analysis, { now, sla, spamTagId, header: eventHeaderFor(deps, call) });
    },
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
