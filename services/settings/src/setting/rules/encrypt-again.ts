import type { SealedText, SecretBox } from '@ticketing/text/sealed-text.ts';
import {
  type ConfigurationChange,
  type ConfigurationState,
  settingBinding,
  subchannelBinding,
} from './configuration.ts';

/** Encrypts all secrets with the current key; undefined if they are already. */
export function encryptAgain(state: ConfigurationState, secretBox: SecretBox): ConfigurationChange | undefined {
  const all = [state.secrets, ...state.subchannels.map(({ secrets }) => secrets)].flatMap(Object.values<SealedText>);
  if (!all.some(secretBox.isOld)) return undefined;
  const renew = (secrets: Readonly<Record<string, SealedText>>, bindingOf: (name: string) => string) =>
    Object.fromEntries(
      Object.entries(secrets).map(([name, sealed]) => {
        const binding = bindingOf(name);
        return [name, secretBox.isOld(sealed) ? secretBox.seal(secretBox.open(sealed, binding), binding) : sealed];
      }),
    );
  const subchannels = state.subchannels.map((one) => ({
    ...one,
    secrets: renew(one.secrets, (at) => subchannelBinding(one.id, at)),
  }));
  return {
    state: { ...state, secrets: renew(state.secrets, settingBinding), subchannels },
    names: [],
    subchannelIds: [],
  };
}
