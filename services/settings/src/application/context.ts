import type { Client } from '@connectrpc/connect';
import { TagService } from '@ticketing/contracts/ticketing/tickets/v1/tag_service_pb.ts';
import type { OutboundGuard } from '@ticketing/outbound/outbound-guard.ts';
import { type Runtime, secondsNow } from '@ticketing/runtime/runtime.ts';
import { timeOrderedId } from '@ticketing/runtime/time-ordered-id.ts';
import type { OnBehalfOf } from '@ticketing/service-kit/client/service-client.ts';
import type { Kit } from '@ticketing/service-kit/lifecycle/kit.ts';
import { type IdSequence, idSequence } from '@ticketing/store/id-sequence.ts';
import { type SecretBox, secretBox } from '../domain/sealed-text.ts';
import { type ConfigurationStore, configurationStore } from '../store/configuration-store.ts';
import { type EventStore, eventStore } from '../store/event-store.ts';
import { type FeedTail, feedTail } from './feed-tail.ts';
import { type AdmitFollower, followerLimits } from './follower-limits.ts';

/** The stores and clients that the handlers of this service use. */
export interface Context {
  configuration: ConfigurationStore;
  events: EventStore;
  tail: FeedTail;
  admitFollower: AdmitFollower;
  /** Aborts when the servers of this process close. */
  closing: AbortSignal;
  subchannelIds: IdSequence;
  secretBox: SecretBox;
  /** Opens a client for tags, for a call. */
  tags(call: OnBehalfOf): Client<typeof TagService>;
  /** What is wrong with a URL to which this system would send requests. */
  checkUrl: OutboundGuard['checkUrl'];
  runtime: Runtime;
  /** Unix seconds. */
  now(): number;
  newEventId(): string;
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
    subchannelIds: idSequence(connection, 'subchannel', runtime.now),
    secretBox: secretBox(config.encryptionKeys, runtime),
    tags: kit.openClient('tickets', TagService, { timeoutMs: 5_000 }),
    checkUrl: (url) => kit.outbound.checkUrl(url),
    runtime,
    now: () => secondsNow(runtime),
    newEventId: () => timeOrderedId('evt', runtime),
  };
}
