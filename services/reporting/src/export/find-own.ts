import { notFound } from '@ticketing/errors/domain-error.ts';
import type { Call } from '@ticketing/service-kit/call/call.ts';
import type { ExportParts } from './open.ts';
import type { ExportJob } from './schema.ts';

/** Identifies the caller who requests an export. Only the same caller may see the export. */
export function describeRequester({ caller }: Call): string {
  return `${caller.kind} ${caller.profileId ?? caller.service}`;
}

/** Finds an export that the caller has requested. Errors: export_not_found, also for an export of another caller. */
export async function findOwnExport(
  { exports }: Pick<ExportParts, 'exports'>,
  call: Call,
  id: string,
): Promise<ExportJob> {
  const job = await exports.find(id);
  if (!job || job.requestedBy !== describeRequester(call)) throw notFound('Export');
  return job;
}
