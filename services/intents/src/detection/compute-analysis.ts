import type { Client } from '@connectrpc/connect';
import { TicketStatus } from '@ticketing/contracts/ticketing/tickets/v1/enums_pb.ts';
import type { SnapshotService } from '@ticketing/contracts/ticketing/tickets/v1/snapshot_service_pb.ts';
import type { Ticket } from '@ticketing/contracts/ticketing/tickets/v1/ticket_pb.ts';
import type { Logger } from '@ticketing/runtime/logger.ts';
import type { OnBehalfOf } from '@ticketing/service-kit/client/service-client.ts';
import type { AiAgentStore } from '../agent/store.ts';
import { findRecipients, type PrepareReply } from '../intent/reply.ts';
import { ticketText } from '../learning/ticket-text.ts';
import { withPreviews } from './preview-replies.ts';
import type { CandidateTag, Detection } from './provider.ts';
import { type AnalysisMode, partsToAnalyse } from './rules/analysis-mode.ts';
import { type AnalysedTicket, type AnalysisResult, decideResult } from './rules/analysis-result.ts';

/** The dependencies of `computeAnalysis`. */
export interface ComputeContext {
  agents: Pick<AiAgentStore, 'enabled'>;
  detection: Pick<Detection, 'detect'>;
  /** Reads the tags that can be detected in a ticket. */
  detectableTags(call: OnBehalfOf): Promise<readonly CandidateTag[]>;
  prepareReply: PrepareReply;
  snapshots(call: OnBehalfOf): Pick<Client<typeof SnapshotService>, 'getTicketSnapshots'>;
  log: Logger;
  /** Unix seconds. */
  now(): number;
}

/**
 * Analyses a ticket as it is now, and stores nothing. Undefined if there is nothing to analyse, because the ticket is
 * deleted, is spam, or was analysed before.
 *
 * Errors: store_unavailable; those of the provider, and of the tickets service as ConnectError.
 */
export async function computeAnalysis(
  context: ComputeContext,
  { trace, signal }: OnBehalfOf,
  ticketId: number,
  modes: readonly AnalysisMode[],
): Promise<AnalysisResult | undefined> {
  const { snapshots } = await context.snapshots({ trace, signal }).getTicketSnapshots({ ticketIds: [ticketId] });
  const [{ ticket, isSpam, process } = {}] = snapshots;
  if (!ticket || isSpam === undefined || process === undefined) return undefined;
  const { aiSupportLevel } = ticket;
  const parts = partsToAnalyse(modes, { isSpam, process, aiSupportLevel });
  if (!parts) return undefined;
  const [agents, tags] = await Promise.all([
    parts.intents ? context.agents.enabled() : [],
    parts.tags ? context.detectableTags({ trace, signal }) : [],
  ]);
  const request = {
    ticketId,
    text: ticketText(ticket),
    channel: ticket.channel,
    tags,
    keywords: [...new Set(agents.flatMap(({ detection }) => detection.keywords))],
  };
  const detected = await context.detection.detect(request, signal);
  const result = decideResult(analysedTicket(ticket), parts, detected, { agents, now: context.now() });
  const { proposals } = result;
  return proposals
    ? { ...result, proposals: await withPreviews(context, { trace, signal }, ticket, { proposals, agents }) }
    : result;
}

function analysedTicket(ticket: Ticket): AnalysedTicket {
  const { version, channel, tagIds, customerId = null, contractId = null, spamStatus, status } = ticket;
  return {
    ...{ version, channel, tagIds, customerId, contractId },
    recipients: findRecipients(ticket),
    spamStatus: spamStatus ?? null,
    isClosed: status === TicketStatus.CLOSED,
  };
}
