import { SpamStatus } from '@ticketing/contracts/ticketing/tickets/v1/enums_pb.ts';
import type { AiAgentState } from '../../agent/rules/agent.ts';
import type { IntentProposal } from '../../intent/rules/intent.ts';
import type { AnalysisParts } from './analysis-mode.ts';
import type { Detected } from './detected.ts';
import { buildProposals, type ProposalTicket } from './proposals.ts';

/** The result of an analysis, before it is applied. It is stored as JSON. Parts that were not analysed are null. */
export interface AnalysisResult {
  /** The version of the ticket that was analysed. */
  ticketVersion: number;
  isRefresh: boolean;
  /** Whether earlier automation no longer counts. */
  restarts: boolean;
  text: Pick<Detected, 'languageCode' | 'sentiment' | 'summary'> | null;
  tagIds: readonly number[];
  isSpam: boolean | null;
  proposals: readonly IntentProposal[] | null;
}

/** The ticket that was analysed. */
export interface AnalysedTicket extends Omit<ProposalTicket, 'tags' | 'keywords' | 'isTimely'> {
  version: number;
  tagIds: readonly number[];
  spamStatus: SpamStatus | null;
  isClosed: boolean;
}

const maxTags = 100;

/**
 * Decides the result of an analysis from the detected values. Spam and closed tickets get no proposals.
 *
 * Units: `now` in Unix seconds. Source: docs/reference/api.md, Detection; docs/reference/api.md, Spam.
 */
export function decideResult(
  ticket: AnalysedTicket,
  parts: AnalysisParts,
  detected: Detected,
  { agents, now }: { agents: readonly AiAgentState[]; now: number },
): AnalysisResult {
  const isSpam = parts.spam && detected.spam ? detected.spam.isSpam : null;
  const becomesSpam = isSpam === true && ticket.spamStatus !== SpamStatus.MANUAL_CLEAN;
  const foundTags = parts.tags && !becomesSpam ? detected.tags.slice(0, maxTags) : [];
  const tags = new Map(foundTags.map(({ label, confidence }) => [label, confidence]));
  for (const id of ticket.tagIds) tags.set(id, 1);
  const fitting = becomesSpam || ticket.isClosed ? [] : agents;
  const { languageCode, sentiment, summary } = detected;
  const { isTimely } = parts;
  return {
    ticketVersion: ticket.version,
    isRefresh: parts.isRefresh,
    restarts: parts.restarts,
    text: parts.text ? { languageCode, sentiment, summary } : null,
    tagIds: foundTags.map(({ label }) => label),
    isSpam,
    proposals: parts.intents
      ? buildProposals({ ...ticket, tags, keywords: new Set(detected.keywords), isTimely }, fitting, now)
      : null,
  };
}
