import type { AuditEntry } from '@ticketing/store/audit/audit-chain.ts';
import type { AuditLog } from '@ticketing/store/audit/audit-log.ts';
import type { ServiceEntry } from '@ticketing/system/services.ts';
import { deletionMethods } from './deletion-methods.ts';

/**
 * Lists the deletions of a service at a time or later, from its audit log: the ids of each deletion, joined by spaces,
 * by method. By default, deletions with an unknown outcome are included.
 *
 * Errors: store_unavailable.
 */
export async function listDeletions(
  entry: ServiceEntry,
  audit: Pick<AuditLog, 'seal' | 'readEntries'>,
  since: Date,
  outcomes: readonly AuditEntry['outcome'][] = ['done', 'unknown'],
): Promise<Record<string, string[]>> {
  const methods = new Map(deletionMethods(entry).map((method) => [method.name, method]));
  const found: Record<string, string[]> = {};
  if (methods.size === 0) return found;
  await audit.seal();
  for await (const { method, fields, subject, outcome } of audit.readEntries([...methods.keys()], since.getTime())) {
    if (!outcomes.includes(outcome) || !methods.get(method)?.isDeletion({ fields })) continue;
    found[method] ??= [];
    found[method].push(subject.ids.join(' '));
  }
  return found;
}
