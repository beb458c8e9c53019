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

/** The parts of a service. The roles of a process decide which of them it runs. */
export interface Composition {
  /** For the role `api`: the contracts of the service with their handlers. */
  implementations?: readonly ServiceImplementation<Call>[];
  /** For the role `api`: an HTTP server of the service's own, instead of the one that is made from its contracts. */
  web?: FastifyInstance;
  /** Records requests with an `Idempotency-Key`; without it the header has no effect. */
  idempotency?: IdempotencyStore;
  /** Called with every verified caller. */
  onCaller?(caller: Caller): void;
  /** For the role `relay`: the outboxes of the events that the service publishes. */
  outboxes?: readonly Outbox[];
  /** For the role `consumer`: handles the events of the topics that the service consumes. */
  handle?: HandleEvents;
  /** For the role `scheduler`: work that is repeated at an interval. */
  tasks?: readonly ScheduledTask[];
  /** Other background work, each with the role that does it. */
  loops?: readonly { role: Role; start(): WakefulLoop }[];
  /** Operations of `npm run events` that only this service has, by name. */
  operations?: Readonly<Record<string, Operation>>;
  /** Work that the operation `drain` waits for, in addition to events. */
  pending?: readonly PendingWork[];
}

/** An operation; returns how many items are left to do, or were found to be wrong. */
export type Operation = (print: Print) => Promise<number>;

/** Work that handling events leads to, and how much of it is left. */
export interface PendingWork {
  /** Completes the line "<count> …", for example `tags do not show in all rows yet`. */
  description: string;
  count(): Promise<number>;
}
