import type { Logger } from '@ticketing/runtime/logger.ts';
import type { IssuerConfig } from '../config/service-config.ts';
import { accessTokenVerifier, type VerifyToken } from './access-token.ts';
import { type Authenticator, authenticator } from './authenticator.ts';
import { internalTokenVerifier } from './internal-token.ts';
import { fileKeySource, type KeySource, secretKeySource, urlKeySource } from './key-source.ts';

/** The verification of the issuer's tokens. */
export interface Issuer {
  verify: VerifyToken;
  keys: KeySource;
}

/** Opens the keys of the issuer. Errors: a file or secret that is not usable. */
export function openIssuer(config: IssuerConfig, logger: Logger): Issuer {
  const keys = issuerKeys(config, logger);
  return { keys, verify: accessTokenVerifier({ keys, issuer: config.issuer, audience: config.audience }) };
}

/** What a service believes at its faces: the issuer's tokens, and the internal tokens that were made for it. */
export function openAuthenticator(service: string, issuer: Issuer, internalJwksFile: string): Authenticator {
  const internal = internalTokenVerifier(fileKeySource(internalJwksFile), service);
  return authenticator({ internal, issuer: issuer.verify });
}

function issuerKeys(config: IssuerConfig, logger: Logger): KeySource {
  if (config.jwksUrl !== undefined) return urlKeySource(config.jwksUrl, logger);
  if (config.jwksFile !== undefined) return fileKeySource(config.jwksFile);
  return secretKeySource(config.secret ?? '');
}
