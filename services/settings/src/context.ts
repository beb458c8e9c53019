import type { Client } from '@connectrpc/connect';
import { EmailTemplateService } from '@ticketing/contracts/ticketing/templates/v1/email_template_service_pb.ts';
import { TagService } from '@ticketing/contracts/ticketing/tickets/v1/tag_service_pb.ts';
import type { OutboundGuard } from '@ticketing/outbound/outbound-guard.ts';
import type { Logger } from '@ticketing/runtime/logger.ts';
import { type Runtime, secondsNow } from '@ticketing/runtime/runtime.ts';
import { timeOrderedId, timeOrderedIds } from '@ticketing/runtime/time-ordered-id.ts';
import type { Tracer } from '@ticketing/runtime/tracer.ts';
import type { OnBehalfOf } from '@ticketing/service-kit/client/service-client.ts';
import type { Kit } from '@ticketing/service-kit/lifecycle/kit.ts';
import { type ErasedIds, erasedIds } from '@ticketing/store/ids/erased-ids.ts';
import { type IdSequence, idSequence } from '@ticketing/store/ids/id-sequence.ts';
import { type CursorCodec, cursorCodecOf } from '@ticketing/store/paging/cursor.ts';
import { type SecretBox, secretBox } from '@ticketing/text/sealed-text.ts';
import { type AdmitFollower, followerLimits } from './feed/follower-limits.ts';
import { type EventStore, eventStore } from './feed/store.ts';
import { type FeedTail, feedTail } from './feed/tail.ts';
import { erasedTicketCollection } from './set-up-store.ts';
import { type ConfigurationStore, configurationStore } from './setting/store.ts';
import { type DeliveryStore, deliveryStore } from './webhook/delivery-store.ts';
import type { Dispatcher } from './webhook/dispatcher/start.ts';
import { type WebhookStore, webhookStore } from './webhook/store.ts';

/** The stores and clients that the handlers of this service use. */
export interface Context {
  configuration: ConfigurationStore;
  events: EventStore;
  tail: FeedTail;
  admitFollower: AdmitFollower;
  /** Aborts when the servers of this process close. */
  closing: AbortSignal;
  subchannelIds: IdSequence;
  webhooks: WebhookStore;
  webhookIds: IdSequence;
  deliveries: DeliveryStore;
  erasedTickets: ErasedIds;
  outbound: OutboundGuard;
  cursors: CursorCodec;
  pages: Kit<unknown, unknown>['pages'];
  secretBox: SecretBox;
  /** Opens a client for tags, for a call. */
  tags(call: OnBehalfOf): Client<typeof TagService>;
  /** Opens a client for e-mail templates, for a call. */
  emailTemplates(call: OnBehalfOf): Client<typeof EmailTemplateService>;
  runtime: Runtime;
  log: Logger;
  /** Records the attempts to make deliveries; undefined if no traces are recorded. */
  tracer: Tracer | undefined;
  /** The dispatcher of this process; undefined until it is started, and in processes without its role. */
  dispatcher: Pick<Dispatcher, 'wake' | 'wakeForEndpoints'> | undefined;
  /** Unix seconds. */
  now(): number;
  newEventId(): string;
  newDeliveryId(): string;
}

/** Opens the stores on the database of a kit. */
export function openContext(kit: Kit<unknown, unknown>): Context {
  const { runtime, config } = kit;
  const { connection } = kit.database;
  const events = eventStore(connection, runtime.now, () => tail.wake());
  const tail = feedTail(events, (error) => kit.log.warn({ err: error }, 'the end of the feed cannot be read'));
  kit.onClose(() => tail.close());
  return {
    configuration: configurationStore(connection, kit.wakeRelay),
    events,
    tail,
    admitFollower: followerLimits(kit.limits),
    closing: kit.closing,
    subchannelIds: idSequence(connection, 'subchannel'),
    webhooks: webhookStore(connection, runtime),
    webhookIds: idSequence(connection, 'webhook'),
    deliveries: deliveryStore(connection),
    erasedTickets: erasedIds(connection, erasedTicketCollection, runtime.now),
    outbound: kit.outbound(),
    cursors: cursorCodecOf(config.signingKeyFile),
    pages: kit.pages,
    secretBox: secretBox(config.encryptionKeys, runtime),
    tags: kit.openClient('tickets', TagService, { timeoutMs: 5_000 }),
    emailTemplates: kit.openClient('templates', EmailTemplateService, { timeoutMs: 5_000 }),
    runtime,
    log: kit.log,
    tracer: kit.tracer,
    dispatcher: undefined,
    now: () => secondsNow(runtime),
    newEventId: () => timeOrderedId('evt', runtime),
    newDeliveryId: timeOrderedIds('dlv', runtime),
  };
}
