import type { OutboundGuard } from '@ticketing/outbound/outbound-guard.ts';
import type { Runtime } from '@ticketing/runtime/runtime.ts';
import type { Kit } from '@ticketing/service-kit/lifecycle/kit.ts';
import { type IdSequence, idSequence } from '@ticketing/store/ids/id-sequence.ts';
import type { SecretBox } from '@ticketing/text/sealed-text.ts';
import type { EventStore } from '../feed/store.ts';
import type { SettingsStore } from '../setting/store.ts';
import type { WebhookStore } from './store.ts';

/** The dependencies of the handlers of webhook endpoints. */
export interface WebhookParts {
  webhooks: WebhookStore;
  webhookIds: IdSequence;
  secretBox: SecretBox;
  outbound: Pick<OutboundGuard, 'checkUrl'>;
  /** Has the subchannels that endpoints name. */
  settings: Pick<SettingsStore, 'read'>;
  /** A new endpoint begins at the end of the feed. */
  events: Pick<EventStore, 'bounds'>;
  /**
   * Lets the dispatcher of this process, if it has one, see a change of endpoints at once. Those of other processes see it
   * when they poll.
   */
  wakeForEndpoints(): void;
  runtime: Runtime;
}

/** Opens the endpoints on the database of a kit. */
export function openWebhooks(
  { database, outbound, runtime }: Pick<Kit<unknown, unknown>, 'database' | 'outbound' | 'runtime'>,
  parts: Omit<WebhookParts, 'webhookIds' | 'outbound' | 'runtime'>,
): WebhookParts {
  return { ...parts, webhookIds: idSequence(database.connection, 'webhook'), outbound, runtime };
}
