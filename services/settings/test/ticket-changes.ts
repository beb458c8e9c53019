import type { ReceivedRequest } from './webhook-harness.ts';

/** A number of changes of each ticket, in the order of their versions. */
export function changes(ticketIds: readonly number[], versions: number) {
  return Array.from({ length: versions }, (_, index) =>
    ticketIds.map((ticketId) => ({ ticketId, version: index + 1 })),
  ).flat();
}

/** The versions of a ticket in the order in which they were first received. */
export function listVersions(received: readonly ReceivedRequest[], ticketId: number): number[] {
  const all = received.filter(({ json }) => json.data.ticketId === ticketId).map(({ json }) => json.data.version);
  return [...new Set(all)];
}

/** The numbers from 1. */
export const upTo = (count: number) => Array.from({ length: count }, (_, index) => index + 1);
