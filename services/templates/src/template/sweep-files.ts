import { sweepFiles } from '@ticketing/files/sweep-files.ts';
import type { Context } from '../context.ts';

/** Checks the files that were written an hour ago: those that their template does not list are removed. */
export async function sweepTemplateFiles(
  context: Pick<Context, 'files' | 'quota' | 'runtime' | 'templates'>,
): Promise<void> {
  await sweepFiles(context, async (id) => new Set((await context.templates.filesOf(id)).map(({ key }) => key)));
}
