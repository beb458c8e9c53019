import { AiSupportLevel } from '@ticketing/contracts/ticketing/tickets/v1/enums_pb.ts';
import {
  AiProcess,
  type GetTicketRequest,
  type GetTicketResponse,
} from '@ticketing/contracts/ticketing/tickets/v1/ticket_service_pb.ts';
import { notFound } from '@ticketing/errors/domain-error.ts';
import type { Call } from '@ticketing/service-kit/call/call.ts';
import { isHuman } from '@ticketing/service-kit/identity/caller.ts';
import { firstAnalysis } from '../analysis/request-store.ts';
import type { Context } from '../context.ts';
import { refreshCustomer } from '../customer/refresh.ts';
import { queueKeys } from '../queue/rules.ts';
import type { TicketSettings } from '../settings.ts';
import { settingsKnowing } from '../settings-knowing.ts';
import type { TicketState } from './rules/fields.ts';
import { countsAsSpam } from './rules/spam.ts';
import { emailTemplateIds } from './rules/subchannels.ts';
import { ticketThatWasRead } from './single-to-proto.ts';

/**
 * Reads a ticket in full form, with its neighbours in the queue.
 *
 * Errors: ticket_not_found; too_much_at_once, sandbox_busy and sandbox_crashed, for a large ticket.
 * Source: docs/reference/api.md, Reading a ticket.
 */
export async function getTicket(context: Context, call: Call, request: GetTicketRequest): Promise<GetTicketResponse> {
  const [found, tree] = await Promise.all([context.tickets.find(request.ticketId), context.tags.recentTree()]);
  if (!found) throw notFound('Ticket');
  const isCacheOnly = request.erpCacheOnly ?? false;
  const deadline = context.customers.deadline();
  const mustRefresh = (request.refresh ?? false) && !isCacheOnly;
  const stored = mustRefresh ? await refreshCustomer(context, call, found, deadline) : found;
  const { ticket } = stored;
  const settings = await settingsKnowing(context, [ticket.subchannelId]);
  queueFirstAnalysis(context, call, ticket, settings);
  const { routingOrder: order, spamDetectionTagId: spamTagId } = settings;
  const position = { id: ticket.id, key: queueKeys(ticket)[order] };
  const erp = { mode: isCacheOnly ? 'cacheOnly' : 'cached', deadline } as const;
  const options = { withRawData: request.includeRawData ?? false, tree, erp };
  const [message, template, sessions, { previous, next }] = await Promise.all([
    ticketThatWasRead(context, call, stored, options),
    readWrapper(context, call, ticket, settings),
    request.includeSessions === false ? undefined : context.sessions.ofTicket(call, ticket.id),
    context.neighbours.find({ order, spamTagId }, position),
  ]);
  return {
    $typeName: 'ticketing.tickets.v1.GetTicketResponse',
    ticket: template === undefined ? message : { ...message, template },
    ...(previous === undefined ? {} : { prevTicketId: previous }),
    ...(next === undefined ? {} : { nextTicketId: next }),
    ...(sessions === undefined ? {} : { sessions }),
  };
}

/** Queues the analysis that waits for the first reader of a ticket. The read does not wait for it, nor fail with it. */
function queueFirstAnalysis(
  { analysisRequests, now }: Context,
  { caller, log }: Call,
  ticket: TicketState,
  { spamDetectionTagId }: TicketSettings,
): void {
  const waits = ticket.process === AiProcess.FALSE && ticket.aiSupportLevel === AiSupportLevel.UNPROCESSED;
  if (!waits || !isHuman(caller) || countsAsSpam(ticket, spamDetectionTagId)) return;
  analysisRequests
    .add([{ ticketId: ticket.id, mode: firstAnalysis }], new Date(now() * 1000))
    .catch((error: unknown) =>
      log.warn({ err: error, ticketId: ticket.id }, 'the analysis of a ticket was not queued'),
    );
}

/** Reads the e-mail template of a ticket: that of its subchannel, else the default one; undefined if none is configured. */
async function readWrapper(
  context: Context,
  call: Call,
  ticket: TicketState,
  settings: TicketSettings,
): Promise<string | undefined> {
  const ids = emailTemplateIds(ticket.subchannelId, settings);
  return ids.length === 0 ? undefined : context.templates.wrapper(call, ids);
}
