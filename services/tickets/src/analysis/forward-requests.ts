import type { MessageInitShape } from '@bufbuild/protobuf';
import type { AnalysisRequestSchema } from '@ticketing/contracts/ticketing/intents/v1/analysis_service_pb.ts';
import { RefreshMode, RefreshModeSchema } from '@ticketing/contracts/ticketing/tickets/v1/ticket_service_pb.ts';
import { readSpellings } from '@ticketing/rest/codec/options.ts';
import { continueTrace } from '@ticketing/runtime/trace.ts';
import { serviceCaller } from '@ticketing/service-kit/identity/caller.ts';
import type { Context } from '../context.ts';
import { ignoreDeleted } from '../ticket/commit.ts';
import { refreshCustomer } from '../ticket/refresh-customer.ts';
import { countsAsSpam } from '../ticket/rules/spam.ts';
import { firstAnalysis, type StoredRequest } from './request-store.ts';

const batchSize = 100;
const atOnce = 8;
const modes = new Map([...readSpellings(RefreshModeSchema)].map(([mode, spelling]) => [spelling, mode as RefreshMode]));

/**
 * Carries out the requests for analyses: the customer is read here, everything else is queued in the intents service. As long
 * as that is unavailable, they wait.
 *
 * Errors: store_unavailable; those of the intents service, as ConnectError. Source: docs/reference/api.md, Refresh flags.
 */
export async function forwardAnalysisRequests(context: Context): Promise<void> {
  for (;;) {
    const requests = await context.analysisRequests.oldest(batchSize);
    if (requests.length === 0) return;
    for (let start = 0; start < requests.length; start += atOnce) {
      await Promise.all(requests.slice(start, start + atOnce).map((one) => refreshCustomerFor(context, one)));
    }
    const analyses = requests.flatMap(toAnalysisRequests);
    if (analyses.length > 0) await context.analyses.request(analyses);
    await context.analysisRequests.remove(requests);
    if (requests.length < batchSize) return;
  }
}

/** Returns the request for the intents service; none for the customer, which is data of this service. */
function toAnalysisRequests({ ticketId, mode: name }: StoredRequest): MessageInitShape<typeof AnalysisRequestSchema>[] {
  if (name === firstAnalysis) return [{ ticketId }];
  const mode = modes.get(name);
  return mode === undefined || mode === RefreshMode.CUSTOMER ? [] : [{ ticketId, mode }];
}

/** Makes one attempt to read the customer; if it fails, the customer stays as it is. Spam is left alone. */
async function refreshCustomerFor(context: Context, { ticketId, mode: name }: StoredRequest): Promise<void> {
  const mode = modes.get(name);
  if (mode !== RefreshMode.FULL && mode !== RefreshMode.CUSTOMER) return;
  const stored = await context.tickets.find(ticketId);
  const { spamDetectionTagId } = await context.settings();
  if (!stored || countsAsSpam(stored.ticket, spamDetectionTagId)) return;
  const call = { caller: serviceCaller('tickets'), trace: continueTrace(undefined) };
  await refreshCustomer(context, call, stored, context.customers.deadline()).catch(ignoreDeleted);
}
