import { AiSupportLevel } from '@ticketing/contracts/ticketing/tickets/v1/enums_pb.ts';
import { AiProcess } from '@ticketing/contracts/ticketing/tickets/v1/ticket_service_pb.ts';

/**
 * Why a ticket is analysed: it was `created`, and perhaps `imported`; its `first` analysis is requested, whatever its
 * `process` says; or a refresh mode of the API.
 */
export type AnalysisMode = 'created' | 'imported' | 'first' | 'full' | 'summaryAndText' | 'tags' | 'agents';

/** The parts of a ticket that an analysis may change. */
export interface AnalysisParts {
  text: boolean;
  tags: boolean;
  spam: boolean;
  intents: boolean;
  /** Whether a refresh flag has requested it: webhooks leave the change out. */
  isRefresh: boolean;
  /** Whether the ticket counts as unprocessed until then. */
  restarts: boolean;
  /** Whether the system may execute by itself what is proposed. */
  isTimely: boolean;
}

/** The fields of a ticket that decide whether it is analysed. Units: `createdAt` in Unix seconds. */
export interface Analysable {
  createdAt: number;
  isSpam: boolean;
  process: AiProcess;
  aiSupportLevel: AiSupportLevel;
}

/** The system does not answer an older request by itself, unless somebody has asked for its analysis. */
const timelySeconds = 24 * 60 * 60;

/** Whether a ticket that appears at `now` was created elsewhere long before. Units: Unix seconds. */
export function isLate(createdAt: number, now: number): boolean {
  return now - createdAt > timelySeconds;
}

/**
 * Decides what an analysis may change; undefined if there is nothing to analyse: spam is left alone, and the first
 * analysis of a ticket is made once.
 *
 * Units: `now` in Unix seconds. Source: docs/reference/api.md, Detection; docs/reference/api.md, Refresh flags; docs/reference/api.md, Spam.
 */
export function partsToAnalyse(
  modes: readonly AnalysisMode[],
  ticket: Analysable,
  now: number,
): AnalysisParts | undefined {
  if (ticket.isSpam) return undefined;
  const requested = new Set(modes);
  const isNew = ticket.aiSupportLevel === AiSupportLevel.UNPROCESSED;
  const isFirst = isNew && (requested.has('first') || (requested.has('created') && ticket.process !== AiProcess.FALSE));
  const restarts = requested.has('full');
  const isWhole = isFirst || restarts;
  const parts = {
    text: isWhole || requested.has('summaryAndText'),
    tags: isWhole || requested.has('tags'),
    spam: isWhole,
    intents: isWhole || requested.has('agents'),
  };
  if (!Object.values(parts).some(Boolean)) return undefined;
  const isAsked = !isFirst || restarts;
  const isTimely = isAsked || !(requested.has('imported') || isLate(ticket.createdAt, now));
  return { ...parts, isRefresh: !isFirst, restarts, isTimely };
}
