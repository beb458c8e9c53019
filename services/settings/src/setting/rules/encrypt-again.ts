import type { SealedText, SecretBox } from '@ticketing/text/sealed-text.ts';
import { type SettingsChange, type SettingsState, settingBinding, subchannelBinding } from './settings.ts';

/** Whether a secret is encrypted with an older key than the current one. */
export function hasOldSecrets({ secrets, subchannels }: SettingsState, secretBox: SecretBox): boolean {
  const all = [secrets, ...subchannels.map((one) => one.secrets)].flatMap(Object.values<SealedText>);
  return all.some(secretBox.isOld);
}

/** Encrypts all secrets with the current key; undefined if they are already. */
export function encryptAgain(state: SettingsState, secretBox: SecretBox): SettingsChange | undefined {
  if (!hasOldSecrets(state, secretBox)) return undefined;
  const renew = (secrets: Readonly<Record<string, SealedText>>, toBinding: (name: string) => string) =>
    Object.fromEntries(
      Object.entries(secrets).map(([name, sealed]) => {
        const binding = toBinding(name);
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
