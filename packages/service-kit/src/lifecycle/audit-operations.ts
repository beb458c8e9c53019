import type { Print } from '@ticketing/events/operations.ts';
import { exportAuditLog, readPoint, reportLines } from '@ticketing/store/audit/audit-export.ts';
import type { ServiceEntry } from '@ticketing/system/services.ts';
import { isAudited } from '../config/service-config.ts';
import type { Kit } from './kit.ts';

/**
 * Prints the audit log of a service, with the changes up to now, or the entries after a point that was noted before. A
 * service without one prints nothing.
 */
export async function exportAudit(
  entry: ServiceEntry,
  kit: AuditKit,
  noted: string | undefined,
  print: Print,
): Promise<number> {
  if (!isAudited(entry)) return 0;
  const { audit } = kit;
  await audit.seal();
  await exportAuditLog(audit, entry.name, print, noted === undefined ? undefined : readPoint(noted));
  return 0;
}

/**
 * Checks the audit log of a service, also against a point that was noted before, and prints the result. Returns how many
 * problems there are.
 */
export async function verifyAudit(
  entry: ServiceEntry,
  kit: AuditKit,
  noted: string | undefined,
  print: Print,
): Promise<number> {
  if (!isAudited(entry)) return 0;
  const { audit } = kit;
  await audit.seal();
  const report = await audit.verify(noted === undefined ? [] : [readPoint(noted)]);
  for (const line of reportLines(entry.name, report)) print(line);
  return report.problems.length;
}

type AuditKit = Pick<Kit<unknown, unknown>, 'audit'>;
