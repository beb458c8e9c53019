import type { ScheduledTask } from '@ticketing/service-kit/lifecycle/schedule.ts';
import { encryptAgain } from '../domain/encrypt-again.ts';
import type { Context } from './context.ts';

const day = 24 * 60 * 60 * 1000;
const retentionMs = 30 * day;

/** The scheduled tasks of this service. */
export function scheduledTasks({
  configuration,
  events,
  secretBox,
  runtime,
  newEventId,
  now,
}: Context): ScheduledTask[] {
  return [
    {
      name: 'remove old events',
      everyMs: 60 * 60_000,
      run: () => events.removeOlderThan(new Date(runtime.now() - retentionMs)),
    },
    {
      name: 'encrypt secrets with the current key',
      everyMs: 60_000,
      async run() {
        const header = { eventId: newEventId(), occurredAt: now() };
        await configuration.change((current) => encryptAgain(current, secretBox), header);
      },
    },
  ];
}
