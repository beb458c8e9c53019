import type { Print } from '@ticketing/events/operations.ts';
import { allAreCurrent, describeEncryption, type Encryption } from '@ticketing/text/encryption.ts';
import type { AgentContext } from './open.ts';
import { sealAgain, sealedTexts } from './rules/http-executor.ts';

/**
 * Encrypts all stored secrets with the current key, after it was replaced. Returns how many AI agents were encrypted
 * again.
 *
 * Source: docs/operations/key-rotation.md, Keys of stored secrets.
 */
export async function encryptSecretsAgain({ agents, secretBox, log }: AgentContext): Promise<Encryption> {
  let encrypted = 0;
  for (const { id, executor } of await agents.withBackend()) {
    if (executor.type !== 'http' || !sealedTexts(executor).some(secretBox.isOld)) continue;
    await agents.commit(id, (agent) => {
      if (agent.executor.type !== 'http') return agent;
      return { ...agent, executor: sealAgain(id, agent.executor, secretBox) };
    });
    encrypted += 1;
  }
  if (encrypted > 0) log.info(allAreCurrent);
  return { encrypted, left: 0 };
}

/** The operation `encrypt-secrets`. Returns how many documents are left. */
export async function printEncryption(context: AgentContext, print: Print): Promise<number> {
  const result = await encryptSecretsAgain(context);
  print(describeEncryption('intents', result));
  return result.left;
}
