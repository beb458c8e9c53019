import { readMeasured } from '@ticketing/runtime/read-measured.ts';
import { startWakefulLoop, type WakefulLoop } from '@ticketing/runtime/wakeful-loop.ts';
import type { LastSeen } from '@ticketing/store/leases/last-seen.ts';
import type { Role } from '@ticketing/system/services.ts';
import { Gauge, type Registry } from 'prom-client';

/** The roles of a process, and the roles for each of which its service needs a process. */
export interface MeasuredRoles {
  lastSeen: LastSeen;
  roles: readonly Role[];
  expected: readonly Role[];
  /** Resolves when the database has been reached. */
  opened: Promise<void>;
}

const noteEveryMs = 15_000;
const retryMs = 2_000;
const describeRole = (role: Role) => `role ${role}`;

/**
 * Notes every 15 s in the store of a service which roles this process has, and registers the metric of all its roles. So a
 * role without any process is seen as long as one process of the service runs.
 */
export function watchRoles({ lastSeen, roles, expected, opened }: MeasuredRoles, registry: Registry): WakefulLoop {
  new Gauge({
    name: 'ticketing_role_last_seen_seconds',
    help: 'How long ago a process with this role was last at work, of each role that the service needs.',
    labelNames: ['role'],
    registers: [registry],
    async collect() {
      const ages = await readMeasured(() => lastSeen.ages(expected.map(describeRole)));
      this.reset();
      for (const role of expected) {
        const age = ages?.get(describeRole(role));
        if (age !== undefined) this.set({ role }, age);
      }
    },
  });
  let areExpected = false;
  return startWakefulLoop({
    pollMs: { busy: noteEveryMs, idle: noteEveryMs },
    after: opened,
    async run() {
      await lastSeen.note(roles.map(describeRole));
      if (!areExpected) await lastSeen.expect(expected.map(describeRole));
      areExpected = true;
      return 'done';
    },
    onError: () => retryMs,
  });
}
