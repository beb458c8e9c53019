import type { MessageInitShape } from '@bufbuild/protobuf';
import type { Client } from '@connectrpc/connect';
import type {
  AnalysisRequestSchema,
  AnalysisService,
} from '@ticketing/contracts/ticketing/intents/v1/analysis_service_pb.ts';
import { RefreshMode, RefreshModeSchema } from '@ticketing/contracts/ticketing/tickets/v1/ticket_service_pb.ts';
import { readSpellings } from '@ticketing/rest/codec/options.ts';
import type { Logger } from '@ticketing/runtime/logger.ts';
import { continueTrace } from '@ticketing/runtime/trace.ts';
import type { OnBehalfOf } from '@ticketing/service-kit/client/service-client.ts';
import { serviceCaller } from '@ticketing/service-kit/identity/caller.ts';
import { sweep } from '@ticketing/store/document/sweep.ts';
import type { ReadSettings } from '../settings.ts';
import { ignoreDeleted } from '../ticket/commit.ts';
import { type RefreshDeps, refreshCustomer } from '../ticket/refresh-customer.ts';
import { countsAsSpam } from '../ticket/rules/spam.ts';
import type { TicketStore } from '../ticket/store/store.ts';
import { type AnalysisRequestStore, firstAnalysis, type StoredRequest } from './request-store.ts';

/** The analyses, which the intents service makes. */
interface Analyses {
  /**
   * Has a new ticket analysed, and waits until it is, at most 10 seconds. If that fails, the ticket is analysed later: the
   * event of its creation queues it.
   */
  now(call: Pick<OnBehalfOf, 'trace' | 'signal'> & { log: Logger }, ticketId: number): Promise<void>;
  /** Queues analyses. Errors: those of the intents service, as ConnectError. */
  request(requests: Parameters<AnalysisClient['requestAnalyses']>[0]['requests'] & object): Promise<void>;
}

type AnalysisClient = Pick<Client<typeof AnalysisService>, 'analyseTicket' | 'requestAnalyses'>;

/** How long the creation of a ticket waits for its analysis. */
export const analysisTimeoutMs = 10_000;

export function openAnalyses(client: (call?: OnBehalfOf) => AnalysisClient): Analyses {
  return {
    async now({ trace, signal, log }, ticketId) {
      try {
        await client({ trace, signal }).analyseTicket({ ticketId });
      } catch (error) {
        log.warn({ err: error, ticketId }, 'a new ticket is analysed later');
      }
    },
    async request(requests) {
      await client().requestAnalyses({ requests });
    },
  };
}

const atOnce = 8;
const modes = new Map([...readSpellings(RefreshModeSchema)].map(([mode, spelling]) => [spelling, mode as RefreshMode]));

export interface RequestDeps {
  analysisRequests: Pick<AnalysisRequestStore, 'oldest' | 'remove'>;
  analyses: Pick<Analyses, 'request'>;
  tickets: Pick<TicketStore, 'find'>;
  settings: ReadSettings;
  refresh: RefreshDeps;
}

/**
 * Carries out the requests for analyses: the customer is read here, everything else is queued in the intents service. As long
 * as that is unavailable, they wait.
 *
 * Errors: store_unavailable; those of the intents service, as ConnectError. Source: docs/reference/api.md, Refresh flags.
 */
export async function forwardAnalysisRequests(deps: RequestDeps): Promise<void> {
  await sweep({
    batch: 100,
    find: (limit) => deps.analysisRequests.oldest(limit),
    async settle(requests) {
      for (let start = 0; start < requests.length; start += atOnce) {
        await Promise.all(requests.slice(start, start + atOnce).map((one) => refreshCustomerFor(deps, one)));
      }
      const analyses = requests.flatMap(toAnalysisRequests);
      if (analyses.length > 0) await deps.analyses.request(analyses);
      await deps.analysisRequests.remove(requests);
    },
  });
}

/** Returns the request for the intents service; none for the customer, which is data of this service. */
function toAnalysisRequests({ ticketId, mode: name }: StoredRequest): MessageInitShape<typeof AnalysisRequestSchema>[] {
  if (name === firstAnalysis) return [{ ticketId }];
  const mode = modes.get(name);
  return mode === undefined || mode === RefreshMode.CUSTOMER ? [] : [{ ticketId, mode }];
}

/** Makes one attempt to read the customer; if it fails, the customer stays as it is. Spam is left alone. */
async function refreshCustomerFor(deps: RequestDeps, { ticketId, mode: name }: StoredRequest): Promise<void> {
  const mode = modes.get(name);
  if (mode !== RefreshMode.FULL && mode !== RefreshMode.CUSTOMER) return;
  const stored = await deps.tickets.find(ticketId);
  const { spamDetectionTagId } = await deps.settings();
  if (!stored || countsAsSpam(stored.ticket, spamDetectionTagId)) return;
  const call = { caller: serviceCaller('tickets'), trace: continueTrace(undefined) };
  await refreshCustomer(deps.refresh, call, stored, deps.refresh.customers.deadline()).catch(ignoreDeleted);
}
