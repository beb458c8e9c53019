import type { Ledger, SentBulk, Subject, TicketState } from './ledger.ts';
import type { TicketEvent } from './subscriber.ts';

/** An event that was read from the bus. */
export interface ReadMessage {
  subject: Subject;
  version: number;
  isDeletion: boolean;
  /** The agent to whom the change has assigned the ticket. */
  agentId: number | undefined;
  /** The status that the change has set; undefined if it has not changed it. */
  status: string | undefined;
  /** Whether the ticket was opened because its `dueBy` has passed. */
  isReopening: boolean;
  /** The change of a ticket, as subscribers receive it; undefined for that of a tag. */
  event: TicketEvent | undefined;
}

/** A ticket, as the API shows it. */
export interface ShownTicket extends TicketState {
  id: number;
  /** The names of its tags, in the form of the column `allTags` of a row. */
  tagNames: string;
}

/** A row of reporting. */
export interface ShownRow {
  id: number;
  version: number;
  status: string;
  priority: string;
  tagNames: string;
}

/** All that was read from the system at the end. The messages of a subject are in the order of the bus. */
export interface Observed {
  messages: readonly ReadMessage[];
  tickets: readonly ShownTicket[];
  /** The names of the tags by id. */
  tags: ReadonlyMap<number, string>;
  rows: readonly ShownRow[];
}

/** The result of a run: counts of events, and a sentence for each thing that is wrong. */
export interface Verdict {
  published: number;
  delivered: number;
  duplicates: number;
  outOfOrder: string[];
  lost: string[];
  /** Events of versions that no ticket has. */
  eventsWithoutChange: string[];
  partialBulks: string[];
  rowsThatDiffer: string[];
  revivedAfterDeletion: string[];
  /** How often the scheduler has opened a ticket. */
  reopenings: number;
  /** Openings by the scheduler of tickets that were not pending, because it had opened them already. */
  reopenedTwice: string[];
}

/** Compares what was acknowledged with what was read. Source: docs/reference/guarantees.md, Events. */
export function judge(ledger: Ledger, observed: Observed): Verdict {
  const onBus = readBus(observed.messages);
  const published = [...onBus.versions.values()].reduce((sum, versions) => sum + versions.size, 0);
  const delivered = observed.messages.length;
  const shown = new Map(observed.tickets.map((ticket) => [ticket.id, ticket]));
  return {
    published,
    delivered,
    duplicates: delivered - published,
    outOfOrder: onBus.outOfOrder,
    lost: [
      ...ledger.acknowledgedTwice.map((what) => `${what} was acknowledged for two changes`),
      ...missingEvents(ledger, onBus),
      ...missingStates(ledger, observed, onBus),
    ],
    eventsWithoutChange: observed.tickets.flatMap(({ id, version }) => {
      const last = findLast(onBus, `ticket ${id}`);
      return last > version ? [`ticket ${id} is shown in version ${version}, but version ${last} is on the bus`] : [];
    }),
    partialBulks: ledger.bulks.flatMap((bulk) => partialBulk(bulk, onBus)),
    rowsThatDiffer: differingRows(observed.rows, shown, onBus),
    revivedAfterDeletion: revived(ledger, observed, onBus),
    reopenings: onBus.reopenings,
    reopenedTwice: onBus.reopenedTwice,
  };
}

/** Whether anything is wrong. */
export function hasFailed(verdict: Verdict): boolean {
  return findings(verdict).length > 0;
}

/** A sentence for each thing that is wrong. */
export function findings(verdict: Verdict): string[] {
  const { outOfOrder, lost, eventsWithoutChange, partialBulks, rowsThatDiffer, ...others } = verdict;
  const { revivedAfterDeletion, reopenedTwice } = others;
  return [
    ...[...lost, ...outOfOrder, ...eventsWithoutChange, ...partialBulks, ...rowsThatDiffer],
    ...[...revivedAfterDeletion, ...reopenedTwice],
  ];
}

interface Bus {
  versions: Map<Subject, Set<number>>;
  outOfOrder: string[];
  /** The version in which a subject was deleted. */
  deletedIn: Map<Subject, number>;
  /** The tickets that were assigned to an agent, by agent. */
  ticketsOfAgent: Map<number, Set<Subject>>;
  reopenings: number;
  reopenedTwice: string[];
}

function readBus(messages: readonly ReadMessage[]): Bus {
  const bus: Bus = {
    ...{ versions: new Map(), outOfOrder: [], deletedIn: new Map(), ticketsOfAgent: new Map() },
    ...{ reopenings: 0, reopenedTwice: [] },
  };
  const last = new Map<Subject, number>();
  const statusOf = new Map<Subject, string>();
  for (const { subject, version, isDeletion, agentId, status, isReopening } of messages) {
    const versions = bus.versions.get(subject) ?? new Set();
    bus.versions.set(subject, versions);
    if (isDeletion) bus.deletedIn.set(subject, version);
    if (agentId !== undefined) {
      bus.ticketsOfAgent.set(agentId, (bus.ticketsOfAgent.get(agentId) ?? new Set()).add(subject));
    }
    if (versions.has(version)) continue;
    versions.add(version);
    const before = last.get(subject) ?? 0;
    last.set(subject, version);
    if (version !== before + 1) bus.outOfOrder.push(`${subject}: version ${version} comes after ${before} on the bus`);
    if (isReopening) {
      bus.reopenings += 1;
      if (statusOf.get(subject) !== 'pending')
        bus.reopenedTwice.push(`${subject} was opened by the scheduler in version ${version}, but was not pending`);
    }
    if (status !== undefined) statusOf.set(subject, status);
  }
  return bus;
}

function findLast(bus: Bus, subject: Subject): number {
  return Math.max(0, ...(bus.versions.get(subject) ?? []));
}

function missingEvents(ledger: Ledger, bus: Bus): string[] {
  const lost: string[] = [];
  for (const [subject, versions] of ledger.versions) {
    for (const version of versions) {
      if (!bus.versions.get(subject)?.has(version)) lost.push(`${subject} version ${version} is not on the bus`);
    }
  }
  for (const [id, state] of ledger.deletions) {
    if (state === 'acknowledged' && !bus.deletedIn.has(`ticket ${id}`)) {
      lost.push(`the deletion of ticket ${id} is not on the bus`);
    }
  }
  return lost;
}

function missingStates(ledger: Ledger, { tickets, tags }: Observed, bus: Bus): string[] {
  const shown = new Map(tickets.map((ticket) => [ticket.id, ticket]));
  const lost: string[] = [];
  for (const [id, newest] of ledger.newest) {
    const ticket = shown.get(id);
    if (!ticket) {
      if (!bus.deletedIn.has(`ticket ${id}`)) lost.push(`ticket ${id} is not shown, although it was not deleted`);
      else if (!ledger.deletions.has(id)) lost.push(`ticket ${id} is deleted, but no deletion was sent`);
    } else if (ticket.version < newest.version) {
      lost.push(`ticket ${id} is shown in version ${ticket.version}, after ${newest.version} was acknowledged`);
    } else if (ticket.version === newest.version && !isSame(ticket, newest)) {
      lost.push(
        `ticket ${id} version ${ticket.version} is shown as ${describeState(ticket)}; acknowledged was ${describeState(newest)}`,
      );
    }
  }
  for (const { id, version } of tickets) {
    const last = findLast(bus, `ticket ${id}`);
    if (last < version)
      lost.push(`ticket ${id} is shown in version ${version}, but the last event on the bus has version ${last}`);
  }
  for (const [id, { acknowledged, sentLater }] of ledger.tagNames) {
    const name = tags.get(id);
    if (name === undefined) lost.push(`tag ${id} is not shown`);
    else if (name !== acknowledged && !sentLater.includes(name)) {
      lost.push(`tag ${id} is shown with the name ${name}; acknowledged was ${acknowledged}`);
    }
  }
  return lost;
}

function isSame(left: TicketState, right: TicketState): boolean {
  return left.status === right.status && left.priority === right.priority && left.tagIds === right.tagIds;
}

function describeState({ status, priority, tagIds }: TicketState): string {
  return `${status}, ${priority}, tags [${tagIds}]`;
}

/** A sentence if a bulk was applied in part: it must have changed all its tickets, deleted ones apart, or none. */
function partialBulk({ agentId, ticketIds, outcome }: SentBulk, bus: Bus): string[] {
  const changed = bus.ticketsOfAgent.get(agentId) ?? new Set();
  const left = ticketIds.filter((id) => !changed.has(`ticket ${id}`) && !bus.deletedIn.has(`ticket ${id}`));
  const which = `a bulk (${outcome}) on tickets ${ticketIds.join(', ')}, agent ${agentId}`;
  if (outcome === 'refused') return changed.size > 0 ? [`${which} has changed ${[...changed].join(', ')}`] : [];
  if (left.length === 0 || (outcome === 'unknown' && changed.size === 0)) return [];
  return [`${which} has not changed ${left.join(', ')}`];
}

function differingRows(rows: readonly ShownRow[], shown: ReadonlyMap<number, ShownTicket>, bus: Bus): string[] {
  const rowOf = new Map(rows.map((row) => [row.id, row]));
  const differing: string[] = [];
  for (const ticket of shown.values()) {
    const row = rowOf.get(ticket.id);
    if (!row) {
      differing.push(`ticket ${ticket.id} has no row`);
      continue;
    }
    for (const column of ['version', 'status', 'priority', 'tagNames'] as const) {
      if (row[column] === ticket[column]) continue;
      differing.push(`the row of ticket ${ticket.id} has the ${column} ${row[column]}, not ${ticket[column]}`);
      break;
    }
  }
  for (const { id } of rows) {
    if (!shown.has(id) && !bus.deletedIn.has(`ticket ${id}`)) differing.push(`row ${id} has no ticket`);
  }
  if (rowOf.size < rows.length) differing.push(`there are ${rows.length - rowOf.size} duplicate rows`);
  return differing;
}

function revived(ledger: Ledger, { tickets, rows }: Observed, bus: Bus): string[] {
  const isDeleted = (id: number) => bus.deletedIn.has(`ticket ${id}`) || ledger.deletions.get(id) === 'acknowledged';
  const deleted = (shown: readonly { id: number }[]) => shown.map(({ id }) => id).filter(isDeleted);
  const late = [...bus.deletedIn].filter(([subject, version]) => findLast(bus, subject) > version);
  return [
    ...deleted(tickets).map((id) => `ticket ${id} was deleted, but is shown`),
    ...deleted(rows).map((id) => `ticket ${id} was deleted, but has a row`),
    ...late.map(([subject, version]) => `${subject} was deleted in version ${version}, but changed afterwards`),
  ];
}
