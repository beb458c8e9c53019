import { sweepFiles } from '@ticketing/files/sweep-files.ts';
import type { Context } from '../context.ts';
import { listedFiles } from './find.ts';

/** Checks the files that were written an hour ago, and removes files that neither ticket nor messages list. */
export async function sweepTicketFiles(context: Context): Promise<void> {
  await sweepFiles(context, async (ticketId) => {
    const { ofTicket, ofMessages } = await listedFiles(context, ticketId);
    return new Set([...ofTicket, ...ofMessages].map(({ key }) => key));
  });
}
