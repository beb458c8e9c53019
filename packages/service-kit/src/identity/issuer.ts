import type { Logger } from '@ticketing/runtime/logger.ts';
import { accessTokenVerifier, type VerifyToken } from './access-token.ts';
import { fileKeySource, type KeySource, secretKeySource, urlKeySource } from './key-source.ts';

/** The issuer whose access tokens are accepted. Exactly one of the three sources of its keys is set. */
export interface IssuerConfig {
  issuer: string;
  audience: string;
  jwksUrl: string | undefined;
  jwksFile: string | undefined;
  secret: string | undefined;
  /** The longest time from the issue to the expiry of a token, in seconds; 0 for no limit. */
  maxTokenLifetimeSeconds: number;
}

/** The issuer of access tokens, as services know it: its keys, and the verification of its tokens. */
export interface Issuer {
  verify: VerifyToken;
  keys: KeySource;
}

/** Opens the keys of the issuer. Errors: a key file or secret that is not usable. */
export function openIssuer(config: IssuerConfig, logger: Logger): Issuer {
  const keys = issuerKeys(config, logger);
  return { keys, verify: accessTokenVerifier({ ...config, keys }) };
}

function issuerKeys(config: IssuerConfig, logger: Logger): KeySource {
  if (config.jwksUrl !== undefined) return urlKeySource(config.jwksUrl, logger);
  if (config.jwksFile !== undefined) return fileKeySource(config.jwksFile);
  return secretKeySource(config.secret ?? '');
}
