import type { Client } from '@connectrpc/connect';
import type { ConfigurationService } from '@ticketing/contracts/ticketing/settings/v1/configuration_service_pb.ts';

/** Returns the value of a secret setting in a version of the configuration; undefined if it has none. */
export type SecretReader = (version: number) => Promise<string | undefined>;

/** Reads a secret setting once for each version of the configuration. It is kept in memory only. */
export function secretReader(
  name: string,
  client: () => Pick<Client<typeof ConfigurationService>, 'getSecrets'>,
): SecretReader {
  let current: { version: number; secret: Promise<string | undefined> } | undefined;
  return (version) => {
    if (current?.version === version) return current.secret;
    const secret = client()
      .getSecrets({ names: [name] })
      .then((response) => response.secrets[name]);
    const read = { version, secret };
    current = read;
    secret.catch(() => {
      if (current === read) current = undefined;
    });
    return secret;
  };
}
