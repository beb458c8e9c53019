import type { Client } from '@connectrpc/connect';
import type { SessionService } from '@ticketing/contracts/ticketing/intents/v1/session_service_pb.ts';
import { AiSupportLevel } from '@ticketing/contracts/ticketing/tickets/v1/enums_pb.ts';
import type { AssistantSessions } from '@ticketing/contracts/ticketing/tickets/v1/intent_pb.ts';
import {
  AiProcess,
  type GetTicketRequest,
  type GetTicketResponse,
} from '@ticketing/contracts/ticketing/tickets/v1/ticket_service_pb.ts';
import { notFound } from '@ticketing/errors/domain-error.ts';
import type { Call } from '@ticketing/service-kit/call/call.ts';
import type { OnBehalfOf } from '@ticketing/service-kit/client/service-client.ts';
import { isHuman } from '@ticketing/service-kit/identity/caller.ts';
import { type ReadSettings, settingsKnowing, type TicketSettings } from '../settings.ts';
import type { TagStore } from '../tag/store.ts';
import { type RefreshDeps, refreshCustomer } from './refresh-customer.ts';
import type { TicketState } from './rules/fields.ts';
import { countsAsSpam } from './rules/spam.ts';
import { emailTemplateIds } from './rules/subchannels.ts';
import type { TicketStore } from './store/store.ts';
import type { Templates } from './template/client.ts';
import type { TicketViews } from './views.ts';

interface GetTicketDeps {
  tickets: Pick<TicketStore, 'find'>;
  tags: Pick<TagStore, 'recentTree'>;
  settings: ReadSettings;
  refresh: RefreshDeps;
  /** Requests the first analysis of a ticket. */
  requestAnalysis(ticketId: number): Promise<void>;
  views: Pick<TicketViews, 'read'>;
  beside: BesideTicket;
}

/** Reads the data that a response shows beside the ticket. */
export interface BesideTicket {
  templates: Pick<Templates, 'wrapper'>;
  sessions: Sessions;
  /** Finds the tickets before and after one in the queue. */
  neighbours(
    settings: TicketSettings,
    ticket: TicketState,
  ): Promise<{ previous: number | undefined; next: number | undefined }>;
}

/**
 * Reads a ticket in full form, with its neighbours in the queue.
 *
 * Errors: ticket_not_found; too_much_at_once, sandbox_busy and sandbox_crashed, for a large ticket.
 * Source: docs/reference/api.md, Reading a ticket.
 */
export async function getTicket(
  deps: GetTicketDeps,
  call: Call,
  request: GetTicketRequest,
): Promise<GetTicketResponse> {
  const [before, tree] = await Promise.all([deps.tickets.find(request.ticketId), deps.tags.recentTree()]);
  if (!before) throw notFound('Ticket');
  const isCacheOnly = request.erpCacheOnly ?? false;
  const deadline = deps.refresh.customers.deadline();
  const mustRefresh = (request.refresh ?? false) && !isCacheOnly;
  const stored = mustRefresh ? await refreshCustomer(deps.refresh, call, before, deadline) : before;
  const { ticket } = stored;
  const settings = await settingsKnowing(deps.settings, [ticket.subchannelId]);
  requestFirstAnalysis(deps, call, ticket, settings);
  const erp = { mode: isCacheOnly ? 'cacheOnly' : 'cached', deadline } as const;
  const options = { withRawData: request.includeRawData ?? false, tree, erp };
  const { templates, sessions: ofTickets, neighbours } = deps.beside;
  const wrapperIds = emailTemplateIds(ticket.subchannelId, settings);
  const [message, template, sessions, { previous, next }] = await Promise.all([
    deps.views.read(call, stored, options),
    wrapperIds.length === 0 ? undefined : templates.wrapper(call, wrapperIds),
    request.includeSessions === false ? undefined : ofTickets.ofTicket(call, ticket.id),
    neighbours(settings, ticket),
  ]);
  return {
    $typeName: 'ticketing.tickets.v1.GetTicketResponse',
    ticket: template === undefined ? message : { ...message, template },
    ...(previous === undefined ? {} : { prevTicketId: previous }),
    ...(next === undefined ? {} : { nextTicketId: next }),
    ...(sessions === undefined ? {} : { sessions }),
  };
}

/** Requests the analysis that waits for the first reader of a ticket. The read does not wait for it, nor fail with it. */
function requestFirstAnalysis(
  { requestAnalysis }: GetTicketDeps,
  { caller, log }: Call,
  ticket: TicketState,
  { spamDetectionTagId }: TicketSettings,
): void {
  const waits = ticket.process === AiProcess.FALSE && ticket.aiSupportLevel === AiSupportLevel.UNPROCESSED;
  if (!waits || !isHuman(caller) || countsAsSpam(ticket, spamDetectionTagId)) return;
  requestAnalysis(ticket.id).catch((error: unknown) =>
    log.warn({ err: error, ticketId: ticket.id }, 'the analysis of a ticket was not queued'),
  );
}

/** The assistant sessions, which the intents service keeps. */
export interface Sessions {
  /**
   * Reads the last 100 sessions of a ticket, as the caller may see them. None while the intents service is unavailable: a
   * read of a ticket does not wait for it.
   */
  ofTicket(call: Pick<Call, 'caller' | 'trace' | 'signal' | 'log'>, ticketId: number): Promise<AssistantSessions>;
}

/** How long a read of a ticket waits for sessions, which it can do without. */
export const sessionsTimeoutMs = 500;
/** For how long they are not asked for again after a failure, so that not every read waits. */
const pauseMs = 1_000;
const maxSessions = 100;
/** A session has 100 participants at most, whose names have 320 characters. */
export const maxSessionBytes = 16 * 1024 * 1024;

/** Opens the sessions. `now` is a clock that never goes back. Units: ms. */
export function openSessions(
  client: (call: OnBehalfOf) => Pick<Client<typeof SessionService>, 'listSessions'>,
  now: () => number = () => performance.now(),
): Sessions {
  let pausedUntil = Number.NEGATIVE_INFINITY;

  async function read(call: Pick<Call, 'caller' | 'trace' | 'signal' | 'log'>, ticketId: number) {
    if (now() < pausedUntil) return [];
    const { caller, trace, signal, log } = call;
    try {
      const request = { ticketId, limit: maxSessions };
      return (await client({ caller, trace, signal }).listSessions(request)).sessions;
    } catch (error) {
      signal.throwIfAborted();
      pausedUntil = now() + pauseMs;
      log.warn({ err: error }, 'the sessions of a ticket cannot be read; none are shown');
      return [];
    }
  }

  return {
    ofTicket: async (call, ticketId) => ({
      $typeName: 'ticketing.tickets.v1.AssistantSessions',
      items: await read(call, ticketId),
    }),
  };
}
