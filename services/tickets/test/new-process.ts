import { outboundGuard } from '@ticketing/outbound/outbound-guard.ts';
import { openLargeJson } from '@ticketing/rest/limits/large-json.ts';
import { ConfigReader } from '@ticketing/runtime/config-reader.ts';
import { createLogger } from '@ticketing/runtime/logger.ts';
import { systemRuntime } from '@ticketing/runtime/runtime.ts';
import type { Database } from '@ticketing/store/connection/database.ts';
import { openIdempotencyStore } from '@ticketing/store/idempotency/idempotency-store.ts';
import { openPageBudget } from '@ticketing/store/paging/page-budget.ts';
import { readTicketsConfig } from '../src/config.ts';
import type { Context } from '../src/context.ts';
import { openContext } from '../src/open-context.ts';
import { defaultSettings } from '../src/settings.ts';
import type { TicketsHarness } from './harness.ts';

/**
 * A context that shares no memory with any other, like that of another process, with a clock that is some hours ahead.
 */
export function newProcess(
  { identity }: TicketsHarness,
  database: Database,
  hoursFromNow = 0,
  wakeRelay: () => void = () => undefined,
): Context {
  for (const name of database.connection.modelNames()) database.connection.deleteModel(name);
  return openContext({
    config: {
      signingKeyFile: identity.keys.signingKeyFile('tickets'),
      ...readTicketsConfig(new ConfigReader({}, { service: 'tickets', services: [] })),
    },
    database,
    idempotency: openIdempotencyStore(database.connection),
    pages: openPageBudget(),
    json: openLargeJson({ maxQueuedBytes: 0, maxQueuedBytesPerCaller: 0 }),
    settings: async () => ({ ...defaultSettings, mailFrom: 'desk@example.org' }),
    openClient: () => () => unused(),
    outbound: outboundGuard({ allow: [], requireHttps: true }),
    log: createLogger('tickets', 'silent'),
    // Its worker ends with the process of the tests.
    onClose: () => undefined,
    wakeRelay,
    runtime: { ...systemRuntime, now: () => Date.now() + hoursFromNow * 3_600_000 },
  });
}

function unused(): never {
  throw new Error('No test of another process calls another system.');
}
