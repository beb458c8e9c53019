import type {
  GetSecretsRequest,
  GetSecretsResponse,
} from '@ticketing/contracts/ticketing/settings/v1/configuration_service_pb.ts';
import type { Call } from '@ticketing/service-kit/server/call.ts';
import type { Context } from '../application/context.ts';
import { settingBinding } from '../domain/configuration.ts';

/** Returns secret settings by name to another service. Those that are not set are left out. */
export async function getSecrets(
  context: Context,
  _call: Call,
  { names }: GetSecretsRequest,
): Promise<GetSecretsResponse> {
  const { secrets } = await context.configuration.read();
  const found = names.flatMap((name) => {
    const sealed = Object.hasOwn(secrets, name) ? secrets[name] : undefined;
    return sealed ? [[name, context.secretBox.open(sealed, settingBinding(name))]] : [];
  });
  return { $typeName: 'ticketing.settings.v1.GetSecretsResponse', secrets: Object.fromEntries(found) };
}
