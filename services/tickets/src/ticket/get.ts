import { AiSupportLevel } from '@ticketing/contracts/ticketing/tickets/v1/enums_pb.ts';
import {
  AiProcess,
  type GetTicketRequest,
  type GetTicketResponse,
} from '@ticketing/contracts/ticketing/tickets/v1/ticket_service_pb.ts';
import { notFound } from '@ticketing/errors/domain-error.ts';
import type { Call } from '@ticketing/service-kit/call/call.ts';
import { isHuman } from '@ticketing/service-kit/identity/caller.ts';
import { type ReadSettings, settingsKnowing, type TicketSettings } from '../settings.ts';
import type { TagStore } from '../tag/store.ts';
import { type RefreshDeps, refreshCustomer } from './refresh-customer.ts';
import type { TicketState } from './rules/fields.ts';
import { countsAsSpam } from './rules/spam.ts';
import { emailTemplateIds } from './rules/subchannels.ts';
import { readSessions, type Sessions } from './sessions.ts';
import type { TicketStore } from './store/store.ts';
import type { Templates } from './template/client.ts';
import type { TicketViews } from './views.ts';

interface GetTicketDeps {
  tickets: Pick<TicketStore, 'find' | 'noteNoSessions'>;
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
    request.includeSessions === false ? undefined : readSessions(deps.tickets, ofTickets, call, stored),
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
