import type { Runtime } from '@ticketing/runtime/runtime.ts';
import type { Database } from '@ticketing/store/connection/database.ts';
import type { FreeSpace } from '@ticketing/store/connection/free-space.ts';
import { serverTime } from '@ticketing/store/connection/server-time.ts';
import { Gauge, type Registry } from 'prom-client';

/** Registers the metrics of a service's database. They are measured whenever the metrics are read. */
export function measureStore(
  { connection, isMissingSetUp }: Pick<Database, 'connection' | 'isMissingSetUp'>,
  space: Pick<FreeSpace, 'disk' | 'reserve'>,
  registry: Registry,
  { now }: Pick<Runtime, 'now'>,
): void {
  new Gauge({
    name: 'store_clock_offset_seconds',
    help: 'How far the clock of the process is ahead of that of its database server; negative if it is behind.',
    registers: [registry],
    collect() {
      this.set((now() - serverTime(connection)) / 1000);
    },
  });
  new Gauge({
    name: 'store_missing_set_up',
    help: 'Whether the database is reached, but not set up for this version: 1 if so, otherwise 0.',
    registers: [registry],
    collect() {
      this.set(isMissingSetUp() ? 1 : 0);
    },
  });
  new Gauge({
    name: 'store_free_bytes',
    help: 'Free space of the disk of the database; NaN if its server does not say it.',
    registers: [registry],
    collect() {
      this.set(space.disk()?.free ?? Number.NaN);
    },
  });
  new Gauge({
    name: 'store_reserve_bytes',
    help: 'Free space that is kept: with less of it, writes are refused; NaN like store_free_bytes.',
    registers: [registry],
    collect() {
      this.set(space.reserve() ?? Number.NaN);
    },
  });
}
