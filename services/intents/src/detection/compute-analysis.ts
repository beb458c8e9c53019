import { TicketStatus } from '@ticketing/contracts/ticketing/tickets/v1/enums_pb.ts';
import type { TicketSnapshot } from '@ticketing/contracts/ticketing/tickets/v1/snapshot_service_pb.ts';
import type { Ticket } from '@ticketing/contracts/ticketing/tickets/v1/ticket_pb.ts';
import type { OnBehalfOf } from '@ticketing/service-kit/client/service-client.ts';
import type { Context } from '../context.ts';
import { recipientsOf } from '../execution/tickets.ts';
import type { TicketText } from '../learning/ticket-text.ts';
import { withPreviews } from './preview-replies.ts';
import { type AnalysisMode, partsOf } from './rules/analysis-mode.ts';
import { type AnalysedTicket, type AnalysisResult, decideResult } from './rules/analysis-result.ts';

/**
 * Analyses a ticket as it is now, and stores nothing. Undefined if there is nothing to analyse, because the ticket is
 * deleted, is spam, or was analysed before.
 *
 * Errors: store_unavailable; those of the provider, and of the tickets service as ConnectError.
 */
export async function analyseTicket(
  context: Context,
  { trace, signal }: OnBehalfOf,
  ticketId: number,
  modes: readonly AnalysisMode[],
): Promise<AnalysisResult | undefined> {
  const { snapshots } = await context.snapshots({ trace, signal }).getTicketSnapshots({ ticketIds: [ticketId] });
  const [snapshot] = snapshots;
  const ticket = snapshot?.ticket;
  const parts = ticket && partsOf(modes, { ...ticket, ...factsOf(snapshot) });
  if (!parts) return undefined;
  const [agents, tags] = await Promise.all([
    parts.intents ? context.agents.enabled() : [],
    parts.tags ? context.detectableTags({ trace, signal }) : [],
  ]);
  const request = {
    ticketId,
    text: analysedText(ticket),
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

/** The text of a ticket that is analysed, and learned from. */
export function analysedText({ subject, bodyClean, bodyPlain }: Ticket): TicketText {
  return { subject: subject ?? null, body: bodyClean ?? bodyPlain ?? null };
}

function factsOf({ isSpam, process }: TicketSnapshot) {
  return { isSpam, process };
}

function analysedTicket(ticket: Ticket): AnalysedTicket {
  const { version, channel, tagIds, customerId = null, contractId = null, spamStatus, status } = ticket;
  return {
    ...{ version, channel, tagIds, customerId, contractId },
    recipients: recipientsOf(ticket),
    spamStatus: spamStatus ?? null,
    isClosed: status === TicketStatus.CLOSED,
  };
}
