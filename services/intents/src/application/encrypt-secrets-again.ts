import { sealAgain, sealedTextsOf } from '../domain/http-executor.ts';
import type { Context } from './context.ts';

/** Encrypts all stored secrets with the current key, after it was replaced. Source: docs/services/intents.md, Secrets. */
export async function encryptSecretsAgain({ agents, secretBox, log }: Context): Promise<void> {
  let changed = 0;
  for (const { id, executor } of await agents.withBackend()) {
    if (executor.type !== 'http' || !sealedTextsOf(executor).some(secretBox.isOld)) continue;
    await agents.change(id, (agent) => {
      if (agent.executor.type !== 'http') return agent;
      return { ...agent, executor: sealAgain(id, agent.executor, secretBox) };
    });
    changed += 1;
  }
  if (changed > 0) log.info('all secrets are encrypted with the current key');
}
