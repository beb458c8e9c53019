import { readFile } from 'node:fs/promises';
import kafkajs, { type SASLOptions } from 'kafkajs';
import { readOnce } from './kafka-tls.ts';

// A CommonJS module; Node does not find this name in it as a named export.
const { KafkaJSNonRetriableError } = kafkajs;

/** The credentials with which a client authenticates to the brokers (SASL). */
export type KafkaCredentials =
  | { mechanism: 'plain' | 'scram-sha-256' | 'scram-sha-512'; username: string; password: string }
  | {
      mechanism: 'oauthbearer';
      /** The file with the current access token, which another program keeps valid. */
      tokenFile: string;
    };

/**
 * Returns the credentials as the client takes them. A token is read from its file for each authentication, also when
 * the brokers ask for another one before the session ends.
 *
 * Errors: a ConfigError if the file of the token cannot be read.
 */
export function kafkaSasl(credentials: KafkaCredentials): SASLOptions {
  if (credentials.mechanism !== 'oauthbearer') return credentials as SASLOptions;
  const { mechanism, tokenFile } = credentials;
  readOnce('KAFKA_OAUTH_TOKEN_FILE', tokenFile);
  return {
    mechanism,
    async oauthBearerProvider() {
      const token = await readFile(tokenFile, 'utf8').catch(() => '');
      if (token.trim() === '') throw new KafkaJSNonRetriableError(`There is no token in ${tokenFile}.`);
      return { value: token.trim() };
    },
  };
}
