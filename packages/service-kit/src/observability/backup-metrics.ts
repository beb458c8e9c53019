import { inTime } from '@ticketing/runtime/in-time.ts';
import { backupSighting, type LastSeen, ledgerSighting } from '@ticketing/store/last-seen.ts';
import { Gauge, type Registry } from 'prom-client';

/** A store that does not respond must not delay the other metrics. */
const timeoutMs = 3_000;
const kinds = [backupSighting, ledgerSighting];

/**
 * Registers how old the last backup and the last extension of the ledger of deletions are. A system for which the commands of
 * this project were never run has no value: nobody can tell whether other tools make its backups.
 */
export function measureBackups(lastSeen: Pick<LastSeen, 'ages'>, registry: Registry): void {
  new Gauge({
    name: 'backup_age_seconds',
    help: 'How long ago a command of this project made a backup, or extended the ledger of deletions; none if it never did.',
    labelNames: ['kind'],
    registers: [registry],
    async collect() {
      const ages = await inTime(lastSeen.ages(kinds), timeoutMs).catch(() => 'late' as const);
      this.reset();
      for (const [kind, age] of ages === 'late' ? [] : ages) this.set({ kind }, age);
    },
  });
}
