import { createHash } from 'node:crypto';
import type { Client } from '@connectrpc/connect';
import type { ConfigurationService } from '@ticketing/contracts/ticketing/settings/v1/configuration_service_pb.ts';
import type { OutboundGuard } from '@ticketing/outbound/outbound-guard.ts';
import type { Logger } from '@ticketing/runtime/logger.ts';
import { secretReader } from '@ticketing/service-kit/settings/secret-reader.ts';
import {
  BrokenCircuitError,
  BulkheadRejectedError,
  bulkhead,
  ConsecutiveBreaker,
  circuitBreaker,
  handleAll,
  wrap,
} from 'cockatiel';
import type { TicketSettings } from '../../settings.ts';
import type { EmbeddedErp } from './embedded.ts';
import { type Erp, erpUnavailable } from './erp.ts';
import { httpErp } from './http.ts';

/** The ERP system that the settings name. */
export interface ConfiguredErp {
  erp: Erp;
  /** Identifies it in the cache of responses; undefined if its responses are not cached, because it is as fast. */
  cacheName: string | undefined;
}

interface ErpParts {
  settings(): Promise<Pick<TicketSettings, 'erpAdapter' | 'erpBaseUrl' | 'version' | 'defaultCountry'>>;
  secrets(): Pick<Client<typeof ConfigurationService>, 'getSecrets'>;
  outbound: Pick<OutboundGuard, 'request'>;
  embedded: EmbeddedErp;
  log: Logger;
  timeoutMs: number;
  /** How long the ERP system is left alone after `failuresToPause` failures in a row. */
  pauseMs: number;
}

const failuresToPause = 5;
const maxRequests = 32;
const maxWaiting = 256;

/**
 * Opens the ERP system of the installation. Call the result for each use: it follows the settings.
 *
 * Errors of a call: erp_unavailable, if the settings do not say where the ERP system is.
 */
export function openErp(parts: ErpParts): () => Promise<ConfiguredErp> {
  const findGuard = guards(parts);
  const readToken = secretReader('erpToken', parts.secrets);
  return async () => {
    const { erpAdapter, erpBaseUrl, version, defaultCountry: country } = await parts.settings();
    if (erpAdapter === 'embedded') return { erp: parts.embedded, cacheName: undefined };
    if (erpBaseUrl === null) throw erpUnavailable(new Error('the setting erpBaseUrl has no value'), 60);
    const baseUrl = erpBaseUrl;
    const guard = findGuard(`${version} ${baseUrl}`);
    const call = <Result>(use: (erp: Erp) => Promise<Result>) =>
      guard(async () => use(httpErp(parts.outbound, { baseUrl, token: await readToken(version), country, ...parts })));
    const erp: Erp = {
      search: (query, page) => call((http) => http.search(query, page)),
      customer: (id) => call((http) => http.customer(id)),
      contract: (id) => call((http) => http.contract(id)),
      match: (traces) => call((http) => http.match(traces)),
    };
    return { erp, cacheName: createHash('sha256').update(baseUrl).digest('hex').slice(0, 16) };
  };
}

type Guard = <Result>(work: () => Promise<Result>) => Promise<Result>;

/**
 * Limits the calls of an ERP system, and makes none for a while after several have failed. A new `key` resets the
 * count: failures with other settings do not count.
 */
function guards({ log, pauseMs }: ErpParts): (key: string) => Guard {
  let current: { key: string; guard: Guard } | undefined;
  return (key) => {
    if (current?.key === key) return current.guard;
    const breaker = circuitBreaker(handleAll, {
      halfOpenAfter: pauseMs,
      breaker: new ConsecutiveBreaker(failuresToPause),
    });
    const policy = wrap(bulkhead(maxRequests, maxWaiting), breaker);
    const guard: Guard = async (work) => {
      try {
        return await policy.execute(work);
      } catch (error) {
        if (error instanceof BrokenCircuitError) throw erpUnavailable(error, Math.ceil(pauseMs / 1000));
        if (!(error instanceof BulkheadRejectedError)) log.warn({ err: error }, 'the ERP system did not respond');
        throw erpUnavailable(error);
      }
    };
    current = { key, guard };
    return guard;
  };
}
