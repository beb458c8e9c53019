import type {
  AnalysisRequest,
  RequestAnalysesRequest,
  RequestAnalysesResponse,
} from '@ticketing/contracts/ticketing/intents/v1/analysis_service_pb.ts';
import { RefreshMode } from '@ticketing/contracts/ticketing/tickets/v1/ticket_service_pb.ts';
import type { Call } from '@ticketing/service-kit/call/call.ts';
import type { Context } from '../context.ts';
import type { AnalysisMode } from './rules/analysis-mode.ts';

/** Nothing is detected for a mode without a name here: the tickets service reads the customer by itself. */
const modes: ReadonlyMap<RefreshMode, AnalysisMode> = new Map([
  [RefreshMode.FULL, 'full'],
  [RefreshMode.SUMMARY_AND_TEXT, 'summaryAndText'],
  [RefreshMode.TAGS, 'tags'],
  [RefreshMode.AGENTS, 'agents'],
]);

/** Queues analyses. Errors: store_unavailable. Source: docs/reference/api.md, Refresh flags. */
export async function requestAnalyses(
  context: Context,
  _call: Call,
  { requests }: RequestAnalysesRequest,
): Promise<RequestAnalysesResponse> {
  await context.analyses.request(requests.flatMap(queued));
  context.analyser?.wake();
  return { $typeName: 'ticketing.intents.v1.RequestAnalysesResponse' };
}

function queued({ ticketId, mode: refreshMode }: AnalysisRequest): { ticketId: number; mode: AnalysisMode }[] {
  const mode = refreshMode === undefined ? 'first' : modes.get(refreshMode);
  return mode === undefined ? [] : [{ ticketId, mode }];
}
