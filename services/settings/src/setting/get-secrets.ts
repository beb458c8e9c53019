import type {
  GetSecretsRequest,
  GetSecretsResponse,
} from '@ticketing/contracts/ticketing/settings/v1/configuration_service_pb.ts';
import { DomainError } from '@ticketing/errors/domain-error.ts';
import type { Call } from '@ticketing/service-kit/call/call.ts';
import { knownSettings } from '@ticketing/service-kit/settings/known-settings.ts';
import type { SettingParts } from './open.ts';
import { settingBinding } from './rules/settings.ts';

/**
 * Returns secret settings by name to a service that may read them. Secrets that are not set are left out.
 *
 * Errors: secret_not_readable if the contract does not name the service as a reader of each.
 */
export async function getSecrets(
  { settings, secretBox }: SettingParts,
  { caller: { service } }: Call,
  { names }: GetSecretsRequest,
): Promise<GetSecretsResponse> {
  const isReadable = (name: string) => service !== null && knownSettings.get(name)?.form.readers.includes(service);
  if (!names.every(isReadable)) {
    const detail = 'The service may not read one of these secrets.';
    throw new DomainError('permission_denied', 'secret_not_readable', detail);
  }
  const { secrets } = await settings.read();
  const values = names.flatMap((name) => {
    const sealed = secrets[name];
    return sealed ? [[name, secretBox.open(sealed, settingBinding(name))]] : [];
  });
  return { $typeName: 'ticketing.settings.v1.GetSecretsResponse', secrets: Object.fromEntries(values) };
}
