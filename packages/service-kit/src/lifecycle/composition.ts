import type { HandleEvents } from '@ticketing/events/consumer/event-handler.ts';
import type { Print } from '@ticketing/events/dead-letters/operations.ts';
import type { Outbox } from '@ticketing/events/outbox/outbox.ts';
import type { ServiceImplementation } from '@ticketing/rest/rest-api.ts';
import type { WakefulLoop } from '@ticketing/runtime/wakeful-loop.ts';
import type { IdempotencyStore } from '@ticketing/store/idempotency-store.ts';
import type { Role } from '@ticketing/system/services.ts';
import type { FastifyInstance } from 'fastify';
import type { Caller } from '../identity/caller.ts';
import type { Call } from '../server/call.ts';
import type { ScheduledTask } from './schedule.ts';

/** The parts of a service. Which of them a process runs, its roles say. */
export interface Composition {
  /** Role `api`: the contracts of the service with their handlers. */
  implementations?: readonly ServiceImplementation<Call>[];
  /** Role `api`: a public HTTP server of the service's own, instead of one that is made from contracts. */
  web?: FastifyInstance;
  /** Where requests with an `Idempotency-Key` are recorded; without it the header is not honoured. */
  idempotency?: IdempotencyStore;
  /** Called with every caller that was verified. */
  onCaller?(caller: Caller): void;
  /** Role `relay`: what the service publishes. */
  outboxes?: readonly Outbox[];
  /** Role `consumer`: handles the events of the topics that the service consumes. The group has the service's name. */
  handle?: HandleEvents;
  /** Role `scheduler`. */
  tasks?: readonly ScheduledTask[];
  /** Other background work, by the role that does it. */
  loops?: readonly { role: Role; start(): WakefulLoop }[];
  /** What an operator can do with the service by `npm run events`, beyond what every service has. */
  operations?: Readonly<Record<string, Operation>>;
  /** What `drain` waits for, beyond events. */
  pending?: readonly PendingWork[];
}

/** An operation; returns how much is left to be done, or was found wrong. */
export type Operation = (print: Print) => Promise<number>;

/** Work that follows from events, and how much of it is left. */
export interface PendingWork {
  what: string;
  count(): Promise<number>;
}
