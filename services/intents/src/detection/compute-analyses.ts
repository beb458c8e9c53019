import type { Client } from '@connectrpc/connect';
import { TicketStatus } from '@ticketing/contracts/ticketing/tickets/v1/enums_pb.ts';
import type { SnapshotService, TicketSnapshot } from '@ticketing/contracts/ticketing/tickets/v1/snapshot_service_pb.ts';
import { TagReference } from '@ticketing/contracts/ticketing/tickets/v1/tag_pb.ts';
import type { TagService } from '@ticketing/contracts/ticketing/tickets/v1/tag_service_pb.ts';
import type { Logger } from '@ticketing/runtime/logger.ts';
import type { OnBehalfOf } from '@ticketing/service-kit/client/service-client.ts';
import type { AiAgentState } from '../agent/rules/agent.ts';
import type { AiAgentStore } from '../agent/store.ts';
import { type AnsweredTicket, findRecipients, type PrepareReply } from '../intent/reply.ts';
import type { IntentProposal } from '../intent/rules/intent.ts';
import { ticketText } from '../learning/ticket-text.ts';
import type { CandidateTag, Detection } from './provider.ts';
import { type AnalysisMode, partsToAnalyse } from './rules/analysis-mode.ts';
import { type AnalysedTicket, type AnalysisResult, decideResult } from './rules/analysis-result.ts';

/** The dependencies of `computeAnalyses`. */
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

/** A ticket that is to be analysed. */
export interface AskedAnalysis {
  ticketId: number;
  modes: readonly AnalysisMode[];
}

/** After this time the results that are there are stored first. */
const sliceMs = 500;

/**
 * Analyses tickets as they are now, one after the other, and stores nothing. Calls `settle` with the analysis of each: its
 * result is undefined if there is nothing to analyse, because the ticket is deleted, is spam, or was analysed before. It
 * leaves out tickets that do not fit into one response, and those to which it has not come after half a second; at least one
 * is analysed.
 *
 * Errors: those of the tickets service as ConnectError; of an analysis, store_unavailable and those of the provider.
 */
export async function computeAnalyses<Asked extends AskedAnalysis>(
  context: ComputeContext,
  call: OnBehalfOf,
  asked: readonly Asked[],
  settle: (one: Asked, analysis: Promise<AnalysisResult | undefined>) => Promise<void>,
): Promise<void> {
  const ticketIds = asked.map(({ ticketId }) => ticketId);
  const request = { ticketIds, withReplyNotSent: true };
  const { snapshots, remainingIds } = await context.snapshots(call).getTicketSnapshots(request);
  const snapshotById = new Map(snapshots.map((snapshot) => [snapshot.ticket?.id, snapshot]));
  let agents: Promise<AiAgentState[]> | undefined;
  const enabled = () => {
    agents ??= context.agents.enabled();
    return agents;
  };
  const until = performance.now() + sliceMs;
  for (const one of asked.filter(({ ticketId }) => !remainingIds.includes(ticketId))) {
    await settle(one, computeAnalysis({ ...context, agents: { enabled } }, call, snapshotById.get(one.ticketId), one));
    if (performance.now() > until) return;
  }
}

async function computeAnalysis(
  context: ComputeContext,
  { trace, signal }: OnBehalfOf,
  { ticket, isSpam, process, replyNotSent }: Partial<TicketSnapshot> = {},
  { ticketId, modes }: AskedAnalysis,
): Promise<AnalysisResult | undefined> {
  if (!ticket || isSpam === undefined || process === undefined) return undefined;
  const { aiSupportLevel } = ticket;
  const createdAt = Number(ticket.createdAt?.seconds ?? 0);
  const parts = partsToAnalyse(modes, { isSpam, process, aiSupportLevel, createdAt }, context.now());
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
  const answered = { ticket, replyNotSent };
  const result = decideResult(analysedTicket(answered), parts, detected, { agents, now: context.now() });
  const { proposals } = result;
  return proposals
    ? { ...result, proposals: await withPreviews(context, { trace, signal }, answered, { proposals, agents }) }
    : result;
}

function analysedTicket(answered: AnsweredTicket): AnalysedTicket {
  const { version, channel, tagIds, customerId = null, contractId = null, spamStatus, status } = answered.ticket;
  return {
    ...{ version, channel, tagIds, customerId, contractId },
    recipients: findRecipients(answered),
    spamStatus: spamStatus ?? null,
    isClosed: status === TicketStatus.CLOSED,
  };
}

/** The time that an analysis takes for previews; a preview that is not rendered by then is left out. */
export const previewMs = 2_000;
/** A longer reply has no preview: all intents of a ticket have to fit into one protobuf message. */
const maxPreviewLength = 20_000;

/**
 * Adds previews to the proposals of AI agents that reply: the replies as the system would send them. A reply that
 * cannot be rendered now has no preview; the analysis does not depend on it.
 */
async function withPreviews(
  { prepareReply, log }: { prepareReply: PrepareReply; log: Logger },
  { trace, signal }: OnBehalfOf,
  answered: AnsweredTicket,
  { proposals, agents }: { proposals: readonly IntentProposal[]; agents: readonly AiAgentState[] },
): Promise<readonly IntentProposal[]> {
  const templates = new Map(
    agents.flatMap(({ id, executor }) =>
      executor.type === 'reply' && executor.templateId !== null ? [[id, executor.templateId]] : [],
    ),
  );
  if (!proposals.some(({ aiAgentId }) => templates.has(aiAgentId))) return proposals;
  const note = (error: unknown) => {
    log.info({ err: error, ticketId: answered.ticket.id }, 'a reply is proposed without a preview');
  };
  const call = { trace, signal: AbortSignal.any([signal, AbortSignal.timeout(previewMs)]) };
  const render = await prepareReply(call, answered).catch(note);
  if (!render) return proposals;
  const previewed: IntentProposal[] = [];
  for (const proposal of proposals) {
    const templateId = templates.get(proposal.aiAgentId);
    const message = templateId === undefined ? null : await render(templateId, proposal.data ?? {}).catch(note);
    const isShown = typeof message === 'string' && message.length <= maxPreviewLength;
    previewed.push(isShown ? { ...proposal, messagePreview: message } : proposal);
  }
  return previewed;
}

/** The maximum age of the list of tags. A tag that is deleted meanwhile is left out when the result is applied. */
const maxAgeMs = 5_000;
const pageSize = 1000;

/** The client that lists tags. */
export interface TagLists {
  tagLists(call: OnBehalfOf): Pick<Client<typeof TagService>, 'listTags'>;
}

/** Reads the enabled tags of tickets, at most every 5 seconds. Errors: those of the tickets service. */
export function openDetectableTags(
  { tagLists }: TagLists,
  now: () => number,
): (call: OnBehalfOf) => Promise<readonly CandidateTag[]> {
  let last: { tags: readonly CandidateTag[]; readAt: number } | undefined;
  return async ({ trace, signal }) => {
    const readAt = now();
    if (last && readAt - last.readAt < maxAgeMs) return last.tags;
    const tags = await readTags(tagLists({ trace, signal }));
    last = { tags, readAt };
    return tags;
  };
}

async function readTags(client: ReturnType<TagLists['tagLists']>): Promise<CandidateTag[]> {
  const candidates: CandidateTag[] = [];
  for (let offset = 0; ; offset += pageSize) {
    const { tags } = await client.listTags({ limit: pageSize, offset });
    for (const { id, fullName: name, reference, detection } of tags) {
      if (reference === TagReference.TICKET) candidates.push({ id, name, keywords: detection?.keywords ?? [] });
    }
    if (tags.length < pageSize) return candidates;
  }
}
