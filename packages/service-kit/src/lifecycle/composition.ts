import { settingChangedTopic, ticketChangedTopic } from '@ticketing/contracts/topics.ts';
import type { HandleEvents } from '@ticketing/events/consumer/event-handler.ts';
import type { Print } from '@ticketing/events/operations.ts';
import type { Outbox } from '@ticketing/events/outbox/outbox.ts';
import type { ServiceImplementation } from '@ticketing/rest/routes/rest-api.ts';
import type { WakefulLoop } from '@ticketing/runtime/wakeful-loop.ts';
import { consumedTopics, type Role, type ServiceEntry } from '@ticketing/system/services.ts';
import type { FastifyInstance } from 'fastify';
import type { Call } from '../call/call.ts';
import type { Caller } from '../identity/caller.ts';
import type { OperationRequest } from '../operations/operation-request.ts';
import { type OperationName, ownOperations } from '../operations/operations.ts';
import { type EraseTicket, eraseDeletedTickets } from './erase-deleted-tickets.ts';
import type { Kit } from './kit.ts';
import type { ScheduledTask } from './schedule.ts';

/** The parts of a service. The roles of a process decide which of them it runs. */
export interface Composition {
  /** For the role `api`: the contracts of the service with their handlers. */
  implementations?: readonly ServiceImplementation<Call>[];
  /** For the role `api`: an HTTP server of the service's own, instead of the one that is made from its contracts. */
  web?: FastifyInstance;
  /** Called with every verified caller. */
  onCaller?(caller: Caller): void;
  /** For the role `relay`: the outboxes of the events that the service publishes. */
  outboxes?: readonly Outbox[];
  /** For the role `consumer`: handles the events of the topics that the service consumes, except deletions of tickets. */
  handle?: HandleEvents;
  /** Whether `handle` is also called with the deletions of tickets, and with the events that were received with them. */
  handlesDeletions?: boolean;
  /**
   * For the role `consumer` of a service that consumes changes of tickets and stores data of them: called when a ticket was
   * deleted. `confirmErasure` of the kit is called afterwards.
   */
  eraseTicket?: EraseTicket;
  /** For the role `scheduler`: work that is repeated at an interval. */
  tasks?: readonly ScheduledTask[];
  /** Other background work, each with the role that does it. If one cannot start, neither does the process. */
  loops?: readonly { role: Role; start(): WakefulLoop | Promise<WakefulLoop> }[];
  /**
   * Replace those handlers of `implementations` that delete and need another service: after a restore deletions are made again
   * while no service runs, and each service makes its share of them again by itself.
   */
  deletionsAlone?: readonly ServiceImplementation<Call>[];
  /** Further work after a backup was restored, before the service starts. */
  afterRestore?(): Promise<void>;
  /** The operations that not every service with a store has, by name. */
  operations?: Readonly<Partial<Record<OperationName, Operation>>>;
  /** Work that the operation `drain` waits for, in addition to events. */
  pending?: readonly PendingWork[];
}

/** An operation; returns how many items are left to do, or were found to be wrong. */
export type Operation = (print: Print, request: OperationRequest) => Promise<number>;

/** Work that handling events leads to, and how much of it is left. */
export interface PendingWork {
  /** Completes the line "<count> …", for example `tags do not show in all rows yet`. */
  description: string;
  count(): Promise<number>;
}

/** Refuses a composition that does not fit the service's entry. Errors: the first difference. */
export function checkComposition(entry: ServiceEntry, composition: Composition): void {
  const { implementations = [], outboxes = [], handle, eraseTicket, tasks = [], loops = [] } = composition;
  const mustErase = entry.keepsTicketData && entry.consumes.includes(ticketChangedTopic);
  const isConsumer = handle !== undefined || eraseTicket !== undefined;
  const hasRole = (role: Role) => entry.roles.includes(role);
  const served = implementations.map(({ service }) => service.typeName);
  const unserved = entry.contracts.find(({ typeName }) => !served.includes(typeName));
  const unknown = served.find((name) => !entry.contracts.some(({ typeName }) => typeName === name));
  const missing = ownOperations(entry).find((name) => !composition.operations?.[name]);
  const difference =
    (unserved && `it does not serve ${unserved.typeName}`) ||
    (unknown && `it serves ${unknown}, which its entry does not list`) ||
    (outboxes.length > 0 !== entry.publishes.length > 0 &&
      'its outboxes and the topics that it publishes do not fit') ||
    (isConsumer !== entry.consumes.length > 0 && 'its handler and the topics that it consumes do not fit') ||
    (outboxes.length > 0 && !hasRole('relay') && 'it has outboxes but not the role relay') ||
    (mustErase !== (eraseTicket !== undefined) && 'its eraseTicket and its keepsTicketData do not fit') ||
    (eraseTicket && !entry.calls.includes('tickets') && 'it erases tickets but does not call tickets') ||
    (consumedTopics(entry).length > 0 && !hasRole('consumer') && 'it receives events but has not the role consumer') ||
    (missing && `it has not the operation ${missing}`) ||
    (tasks.length > 0 && !hasRole('scheduler') && 'it has tasks but not the role scheduler') ||
    loops
      .filter(({ role }) => !hasRole(role))
      .map(({ role }) => `it has a loop of the role ${role}, but not the role`)[0];
  if (difference) throw new Error(`The ${entry.name} service does not fit its entry: ${difference}.`);
}

/** The handler of all events that a service receives; undefined if it receives none. */
export function eventHandlerOf(kit: Kit<unknown, unknown>, composition: Composition): HandleEvents | undefined {
  const { handle, eraseTicket, handlesDeletions = false } = composition;
  const handleOwn = eraseTicket
    ? eraseDeletedTickets({ handle, handlesDeletions, eraseTicket, confirm: kit.confirmErasure })
    : handle;
  const { configuration } = kit;
  if (!configuration) return handleOwn;
  return async (events, context) => {
    const others = events.filter(({ topic }) => topic !== settingChangedTopic.name);
    if (others.length < events.length) await configuration.refresh();
    if (handleOwn && others.length > 0) await handleOwn(others, context);
  };
}
