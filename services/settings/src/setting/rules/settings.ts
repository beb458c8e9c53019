import type { JsonObject, JsonValue } from '@bufbuild/protobuf';
import type { Channel } from '@ticketing/contracts/ticketing/tickets/v1/enums_pb.ts';
import type { SealedText } from '@ticketing/text/sealed-text.ts';

/** The settings and subchannels of the installation, as they are stored: in one document, so that a change is atomic. */
export interface SettingsState {
  /** Increases by one with every change. */
  version: number;
  /** The values of the settings that are set, by name. */
  values: Readonly<Record<string, JsonValue>>;
  /** The secret settings that are set, by name. */
  secrets: Readonly<Record<string, SealedText>>;
  subchannels: readonly SubchannelState[];
  /** The e-mail templates that were deleted last, oldest first: a request may name one that it has found before. */
  deletedTemplateIds: readonly number[];
}

/** A stored subchannel. */
export interface SubchannelState {
  id: number;
  channel: Channel;
  name: string;
  isDefault: boolean;
  interface: string;
  enabled: boolean;
  emailTemplateId: number | null;
  /** The data, with null for each secret value. */
  data: JsonObject;
  /** The secret values of `data`, by JSON Pointer. */
  secrets: Readonly<Record<string, SealedText>>;
}

/** A change of the settings: their new state, and which of them differ. */
export interface SettingsChange {
  state: Omit<SettingsState, 'version'>;
  /** The names of the settings that changed. */
  names: readonly string[];
  subchannelIds: readonly number[];
}

/** The settings of a new installation. */
export const emptySettings: SettingsState = {
  version: 0,
  values: {},
  secrets: {},
  subchannels: [],
  deletedTemplateIds: [],
};

/** Returns the text that the encryption binds the secret of a setting to. */
export const settingBinding = (name: string): string => `setting ${name}`;

/** Returns the text that the encryption binds a secret value of a subchannel to; `at` is its JSON Pointer in `data`. */
export const subchannelBinding = (id: number, at: string): string => `subchannel ${id} ${at}`;
