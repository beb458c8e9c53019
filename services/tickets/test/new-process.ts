import { outboundGuard } from '@ticketing/outbound/outbound-guard.ts';
import { openLargeJson } from '@ticketing/rest/limits/large-json.ts';
import { ConfigReader } from '@ticketing/runtime/config-reader.ts';
import { createLogger } from '@ticketing/runtime/logger.ts';
import { systemRuntime } from '@ticketing/runtime/runtime.ts';
import type { Database } from '@ticketing/store/connection/database.ts';
import { openIdempotencyStore } from '@ticketing/store/idempotency/idempotency-store.ts';
import { openPageBudget } from '@ticketing/store/paging/page-budget.ts';
import { Registry } from 'prom-client';
import { readTicketsConfig } from '../src/config.ts';
import { type FeatureParts, openFeatures } from '../src/open-features.ts';
import { defaultSettings } from '../src/settings.ts';
import type { TicketsHarness } from './harness.ts';

/** Features that share no memory with any others, like those of another process. */
export type Process = ReturnType<typeof newProcess>;

/** Opens features like those of another process, with a clock that is some hours ahead. `parts` replace those of the kit. */
export function newProcess(
  { identity }: TicketsHarness,
  database: Database,
  hoursFromNow = 0,
  parts: Partial<FeatureParts> = {},
) {
  for (const name of database.connection.modelNames()) database.connection.deleteModel(name);
  const runtime = { ...systemRuntime, now: () => Date.now() + hoursFromNow * 3_600_000 };
  const { stores, ...features } = openFeatures({
    config: {
      signingKeyFile: identity.keys.signingKeyFile('tickets'),
      ...readTicketsConfig(new ConfigReader({}, { service: 'tickets', services: [] })),
    },
    database,
    idempotency: openIdempotencyStore(database.connection),
    metrics: { registry: new Registry() },
    pages: openPageBudget(),
    json: openLargeJson({ maxQueuedBytes: 0, maxQueuedBytesPerCaller: 0 }),
    settings: async () => ({ ...defaultSettings, mailFrom: 'desk@example.org' }),
    openClient: () => () => unused(),
    outbound: outboundGuard({ allow: [], requireHttps: true }),
    log: createLogger('tickets', 'silent'),
    // Its worker ends with the process of the tests.
    onClose: () => undefined,
    wakeRelay: () => undefined,
    runtime,
    ...parts,
  });
  const { ticket, snapshot, conversation, customer, analysis, attachment, mail, history, tag } = features;
  return {
    ...stores,
    ...features,
    ...features.attachments,
    ...{
      ...ticket,
      ...snapshot,
      ...conversation,
      ...customer,
      ...analysis,
      ...attachment,
      ...mail,
      ...history,
      ...tag,
    },
  };
}

function unused(): never {
  throw new Error('No test of another process calls another system.');
}
