import type { Ticket } from '@ticketing/contracts/ticketing/tickets/v1/ticket_pb.ts';
import type { Logger } from '@ticketing/runtime/logger.ts';
import type { OnBehalfOf } from '@ticketing/service-kit/client/service-client.ts';
import type { AiAgentState } from '../agent/rules/agent.ts';
import type { PrepareReply } from '../intent/reply.ts';
import type { IntentProposal } from '../intent/rules/intent.ts';

/** The time that an analysis takes for previews; a preview that is not rendered by then is left out. */
const previewMs = 2_000;
/** A longer reply has no preview: all intents of a ticket have to fit into one protobuf message. */
const maxPreviewLength = 20_000;

/**
 * Adds previews to the proposals of AI agents that reply: the replies as the system would send them. A reply that
 * cannot be rendered now has no preview; the analysis does not depend on it.
 */
export async function withPreviews(
  { prepareReply, log }: { prepareReply: PrepareReply; log: Logger },
  { trace, signal }: OnBehalfOf,
  ticket: Pick<Ticket, 'id' | 'channel'>,
  { proposals, agents }: { proposals: readonly IntentProposal[]; agents: readonly AiAgentState[] },
): Promise<readonly IntentProposal[]> {
  const templates = new Map(
    agents.flatMap(({ id, executor }) =>
      executor.type === 'reply' && executor.templateId !== null ? [[id, executor.templateId]] : [],
    ),
  );
  if (!proposals.some(({ aiAgentId }) => templates.has(aiAgentId))) return proposals;
  const note = (error: unknown) => {
    log.info({ err: error, ticketId: ticket.id }, 'a reply is proposed without a preview');
  };
  const call = { trace, signal: AbortSignal.any([signal, AbortSignal.timeout(previewMs)]) };
  const render = await prepareReply(call, ticket).catch(note);
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
