import type { JsonObject } from '@bufbuild/protobuf';
import type { Channel } from '@ticketing/contracts/ticketing/tickets/v1/enums_pb.ts';
import { ConfidenceColor } from '@ticketing/contracts/ticketing/tickets/v1/intent_pb.ts';
import type { AiAgentState } from '../../agent/rules/agent.ts';
import { dataViolations, defaultData } from '../../intent/rules/data.ts';
import { type InfoState, type IntentProposal, recipientText } from '../../intent/rules/intent.ts';
import { keywordConfidence } from './detected.ts';

/** A ticket, as far as the rules of AI agents depend on it. */
export interface ProposalTicket {
  channel: Channel;
  customerId: string | null;
  contractId: string | null;
  /** The recipients of a message to the customer. */
  recipients: readonly string[];
  /** The certainty of each tag, by its id: 1 for tags that the ticket has already. */
  tags: ReadonlyMap<number, number>;
  /** The keywords that its text contains. */
  keywords: ReadonlySet<string>;
  /** Whether the system may execute an intent by itself. */
  isTimely: boolean;
}

const success = 0.8;
const warning = 0.5;
const maxInfos = 10;

/**
 * Builds the proposals of AI agents for a ticket. Each enabled one proposes one intent if its rules hold. An AI agent
 * without keywords and tags proposes nothing.
 *
 * Units: `now` in Unix seconds. Source: docs/reference/api.md, AI agents; docs/reference/api.md, Automatic execution.
 */
export function buildProposals(ticket: ProposalTicket, agents: readonly AiAgentState[], now: number): IntentProposal[] {
  return agents.flatMap((agent) => {
    const confidence = findConfidence(ticket, agent);
    return confidence === undefined ? [] : [buildProposal(ticket, agent, confidence, now)];
  });
}

/** Returns the confidence that an AI agent fits; undefined if it does not. */
function findConfidence(
  { channel, customerId, tags, keywords }: ProposalTicket,
  { enabled, channels, customerNeeded, detection }: AiAgentState,
): number | undefined {
  if (!enabled || (channels.length > 0 && !channels.includes(channel))) return undefined;
  if (customerNeeded && customerId === null) return undefined;
  const confidences = [
    ...detection.keywords.flatMap((keyword) => (keywords.has(keyword) ? [keywordConfidence] : [])),
    ...detection.tagIds.flatMap((id) => tags.get(id) ?? []),
  ];
  if (confidences.length === 0) return undefined;
  const confidence = Math.max(...confidences);
  return detection.minConfidence !== null && confidence < detection.minConfidence ? undefined : confidence;
}

function buildProposal(
  { contractId, recipients, isTimely }: ProposalTicket,
  { id, slug, name, options, parameters, autoExecuteAfterMinutes }: AiAgentState,
  confidence: number,
  now: number,
): IntentProposal {
  const data = defaultData(parameters);
  const infos = missingData(parameters, data);
  const isRecommended = options.some(({ recommended }) => recommended);
  // An execution that would be refused without data from a person is not promised.
  const isAutomatic = isTimely && autoExecuteAfterMinutes !== null && isRecommended && infos.length === 0;
  return {
    aiAgentId: id,
    code: slug,
    name,
    contractId,
    confidence,
    confidenceColor: toColor(confidence),
    messagePreview: null,
    recipient: recipientText(recipients),
    data,
    options,
    infos,
    autoExecuteAt: isAutomatic ? now + autoExecuteAfterMinutes * 60 : null,
  };
}

/** Lists why an execution with these data would be refused, with the same codes as the execution. */
function missingData(schema: JsonObject | null, data: JsonObject | null): InfoState[] {
  const violations = schema ? dataViolations(schema, data ?? {}, '#/data') : [];
  return violations
    .slice(0, maxInfos)
    .map(({ code, detail, pointer }) => ({ type: code, message: detail, extraInfo: pointer }));
}

function toColor(confidence: number): ConfidenceColor {
  if (confidence >= success) return ConfidenceColor.SUCCESS;
  return confidence >= warning ? ConfidenceColor.WARNING : ConfidenceColor.DANGER;
}
