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
import { type AnyKit, hasStore } from './kit.ts';
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
   * Erases the data of a deleted ticket, in the role `consumer`. Every service needs it that consumes changes of tickets and
   * stores data of them. The kit calls `confirmErasure` afterwards.
   */
  eraseTicket?: EraseTicket;
  /** For the role `scheduler`: work that is repeated at an interval. */
  tasks?: readonly ScheduledTask[];
  /** Other background work, each with the role that does it. If one cannot start, neither does the process. */
  loops?: readonly { role: Role; start(): WakefulLoop | Promise<WakefulLoop> }[];
  /**
   * Replace the handlers of `implementations` that delete and need another service. After a restore, deletions are repeated
   * while no service runs: each service repeats its share by itself.
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
  const [difference] = [contractDifferences, eventDifferences, workDifferences].flatMap((find) =>
    find(entry, composition),
  );
  if (difference) throw new Error(`The ${entry.name} service does not fit its entry: ${difference}.`);
}

function contractDifferences({ contracts }: ServiceEntry, { implementations = [] }: Composition): string[] {
  const served = implementations.map(({ service }) => service.typeName);
  const listed = contracts.map(({ typeName }) => typeName);
  const unserved = listed.filter((name) => !served.includes(name));
  const unlisted = served.filter((name) => !listed.includes(name));
  return [
    ...unserved.map((name) => `it does not serve ${name}`),
    ...unlisted.map((name) => `it serves ${name}, which its entry does not list`),
  ];
}

function eventDifferences(entry: ServiceEntry, { outboxes = [], handle, eraseTicket }: Composition): string[] {
  const publishes = outboxes.length > 0;
  const erases = eraseTicket !== undefined;
  const handles = handle !== undefined || erases;
  const mustErase = entry.keepsTicketData && entry.consumes.includes(ticketChangedTopic);
  const receives = consumedTopics(entry).length > 0;
  const { publishes: published, consumes, calls, roles } = entry;
  return sentences([
    [publishes !== published.length > 0, 'its outboxes and the topics that it publishes do not fit'],
    [handles !== consumes.length > 0, 'its handler and the topics that it consumes do not fit'],
    [publishes && !roles.includes('relay'), 'it has outboxes but not the role relay'],
    [mustErase !== erases, 'its eraseTicket and its keepsTicketData do not fit'],
    [erases && !calls.includes('tickets'), 'it erases tickets but does not call tickets'],
    [receives && !roles.includes('consumer'), 'it receives events but has not the role consumer'],
  ]);
}

function workDifferences(entry: ServiceEntry, { operations = {}, tasks = [], loops = [] }: Composition): string[] {
  const { roles } = entry;
  return sentences([
    ...ownOperations(entry).map((name) => [!operations[name], `it has not the operation ${name}`] as const),
    [tasks.length > 0 && !roles.includes('scheduler'), 'it has tasks but not the role scheduler'],
    ...loops.map(({ role }) => [!roles.includes(role), `it has a loop of the role ${role}, but not the role`] as const),
  ]);
}

function sentences(checks: readonly (readonly [isWrong: boolean, sentence: string])[]): string[] {
  return checks.filter(([isWrong]) => isWrong).map(([, sentence]) => sentence);
}

/** Makes the handler of all events that a service receives; undefined if it receives none. */
export function toEventHandler(kit: AnyKit, composition: Composition): HandleEvents | undefined {
  const { handle, eraseTicket, handlesDeletions = false } = composition;
  if (!hasStore(kit)) return handle;
  const { confirmErasure: confirm, settingsCopy } = kit;
  const handleOwn = eraseTicket ? eraseDeletedTickets({ handle, handlesDeletions, eraseTicket, confirm }) : handle;
  if (!settingsCopy) return handleOwn;
  return async (events, context) => {
    const others = events.filter(({ topic }) => topic !== settingChangedTopic.name);
    if (others.length < events.length) await settingsCopy.refresh();
    if (handleOwn && others.length > 0) await handleOwn(others, context);
  };
}
