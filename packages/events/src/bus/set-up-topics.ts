import { setTimeout } from 'node:timers/promises';
import type { Topic } from '@ticketing/contracts/topics.ts';
import { DomainError } from '@ticketing/errors/domain-error.ts';
import type { Logger } from '@ticketing/runtime/logger.ts';
import { type BusConfig, openBus } from './bus-config.ts';

const timeoutMs = 60_000;
const retryMs = 500;

/** Makes the topics that are missing. Errors: bus_unavailable, if the bus does not respond within a minute. */
export async function setUpTopics(
  service: string,
  config: BusConfig,
  topics: readonly Topic[],
  log: Logger,
): Promise<void> {
  const bus = await openBus(config, service, log);
  const giveUpAt = performance.now() + timeoutMs;
  // An attempt may hang.
  const tooLate = setTimeout(timeoutMs, undefined, { ref: false }).then(() => {
    throw new DomainError('unavailable', 'bus_unavailable', `The bus of the ${service} service does not respond.`);
  });
  tooLate.catch(() => undefined);
  try {
    for (;;) {
      try {
        await Promise.race([bus.setUp(topics), tooLate]);
        return;
      } catch (error) {
        if (!(error instanceof DomainError) || error.code !== 'unavailable' || performance.now() > giveUpAt)
          throw error;
        await setTimeout(retryMs);
      }
    }
  } finally {
    await bus.close();
  }
}
