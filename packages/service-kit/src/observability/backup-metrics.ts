import { readMeasured } from '@ticketing/runtime/read-measured.ts';
import { backupSighting, type LastSeen, ledgerSighting } from '@ticketing/store/leases/last-seen.ts';
import { Gauge, type Registry } from 'prom-client';

const kinds = [backupSighting, ledgerSighting];

/**
 * Registers how old the last backup and the last extension of the ledger of deletions are. A system for which the
 * commands of this project were never run has no value: other tools may make its backups.
 */
export function measureBackups(lastSeen: Pick<LastSeen, 'ages'>, registry: Registry): void {
  new Gauge({
    name: 'backup_age_seconds',
    help: 'How long ago a command of this project made a backup, or extended the ledger of deletions; none if it never did.',
    labelNames: ['kind'],
    registers: [registry],
    async collect() {
      const ages = await readMeasured(() => lastSeen.ages(kinds));
      this.reset();
      for (const [kind, age] of ages ?? []) this.set({ kind }, age);
    },
  });
}
