import type { Context } from './context.ts';

/** Erases what this service stores of a deleted ticket. Its thin events stay. Source: docs/reference/api.md, Deletion. */
export async function eraseTicket(_context: Context, _ticketId: number): Promise<void> {}
