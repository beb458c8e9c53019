import type { Client } from '@connectrpc/connect';
import type { AnalysisService } from '@ticketing/contracts/ticketing/intents/v1/analysis_service_pb.ts';
import type { Logger } from '@ticketing/runtime/logger.ts';
import type { OnBehalfOf } from '@ticketing/service-kit/client/service-client.ts';

/** The analyses, which the intents service makes. */
export interface Analyses {
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

/** Opens the analyses. */
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
