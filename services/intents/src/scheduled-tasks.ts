import type { ScheduledTask } from '@ticketing/service-kit/lifecycle/schedule.ts';
import { dropFromAgents } from './agent/drop-deleted.ts';
import { encryptSecretsAgain } from './agent/encrypt-secrets-again.ts';
import type { Context } from './context.ts';
import { eraseShares } from './erase.ts';
import { executeAutomatically } from './execution/automatic.ts';
import { finishExecutions } from './execution/finish-abandoned.ts';

const second = 1000;
const minute = 60 * second;
const day = 24 * 60 * minute;

/**
 * The time for which ids of deleted objects are kept: longer than a request that names one can be repeated with its
 * key.
 */
const keptMs = 2 * day;
/**
 * The age up to which deletions are repeated: a process that died while it saved something has not checked for them.
 */
const repeatedMs = 60 * minute;

/** The scheduled tasks of this service. */
export function scheduledTasks(context: Context): ScheduledTask[] {
  return [
    { name: 'encrypt secrets with the current key', everyMs: minute, run: () => encryptSecretsAgain(context) },
    {
      name: 'finish executions of processes that have died',
      everyMs: 5 * second,
      run: () => finishExecutions(context),
    },
    { name: 'execute intents automatically', everyMs: 5 * second, run: () => executeAutomatically(context) },
    {
      name: 'read tickets again whose features have another format',
      everyMs: 10 * minute,
      run: () => context.learning.examples.readAgain(),
    },
    { name: 'repeat recent deletions', everyMs: 10 * minute, run: () => repeatDeletions(context) },
  ];
}

async function repeatDeletions(context: Context): Promise<void> {
  const { deleted, learning, runtime } = context;
  const since = runtime.now() - repeatedMs;
  await eraseShares(context, await deleted.tickets.since(since));
  await learning.models.removeOld();
  const tags = await deleted.tags.since(since);
  await learning.examples.dropTags(tags);
  await dropFromAgents(context, tags, await deleted.templates.since(since));
  for (const ids of Object.values(deleted)) await ids.removeOlderThan(runtime.now() - keptMs);
}
