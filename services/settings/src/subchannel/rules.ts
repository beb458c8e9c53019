import { isDeepStrictEqual } from 'node:util';
import type { JsonObject, JsonValue } from '@bufbuild/protobuf';
import { DomainError, invalidInput, notFound } from '@ticketing/errors/domain-error.ts';
import { pointerSegment } from '@ticketing/rest/codec/scan-json.ts';
import type { SealedText, SecretBox } from '@ticketing/text/sealed-text.ts';
import { requireNotDeleted } from '../setting/rules/email-template-reference.ts';
import {
  type SettingsChange,
  type SettingsState,
  type SubchannelState,
  subchannelBinding,
} from '../setting/rules/settings.ts';

/** The fields of a subchannel that a request can set. */
export type SubchannelInput = Omit<SubchannelState, 'id' | 'channel' | 'secrets'>;

const maxSubchannels = 200;
/** The keys whose values become part of a mail or of its delivery. */
const headerKeys = ['address', 'from', 'fromName', 'replyTo', 'host', 'user'];
const hasLineBreak = /[\p{Cc}\u2028\u2029]/u;
/** Encrypting makes a short value much longer, and all subchannels are in one document. */
const maxSecrets = 50;

/** Adds a subchannel. Errors: too_many_subchannels, duplicate_subchannel, unknown_template. */
export function addSubchannel(
  state: SettingsState,
  { id, channel, ...input }: Pick<SubchannelState, 'id' | 'channel'> & SubchannelInput,
  secretBox: SecretBox,
): SettingsChange | undefined {
  // The same request has created it in a process that died before it responded.
  if (state.subchannels.some((one) => one.id === id)) return undefined;
  if (state.subchannels.length >= maxSubchannels) {
    throw new DomainError('failed_precondition', 'too_many_subchannels', `There are ${maxSubchannels} subchannels.`);
  }
  const { data, secrets } = sealData(id, input.data, {}, secretBox);
  requireTemplate(state, input);
  return withSubchannel(state, { id, channel, ...input, data, secrets });
}

/** Changes a subchannel. Errors: subchannel_not_found, duplicate_subchannel, unknown_template. */
export function changeSubchannel(
  state: SettingsState,
  id: number,
  input: Partial<SubchannelInput>,
  secretBox: SecretBox,
): SettingsChange | undefined {
  const before = requireSubchannel(state, id);
  requireTemplate(state, input);
  const sealed = input.data ? sealData(id, input.data, before.secrets, secretBox) : {};
  const after = { ...before, ...input, ...sealed };
  return isDeepStrictEqual(before, after) ? undefined : withSubchannel(state, after);
}

/** Removes a subchannel. Errors: subchannel_not_found. */
export function removeSubchannel(state: SettingsState, id: number): SettingsChange {
  requireSubchannel(state, id);
  const subchannels = state.subchannels.filter((one) => one.id !== id);
  return { state: { ...state, subchannels }, names: [], subchannelIds: [id] };
}

/** Returns the subchannel with an id. Errors: subchannel_not_found. */
export function requireSubchannel({ subchannels }: SettingsState, id: number): SubchannelState {
  const subchannel = subchannels.find((one) => one.id === id);
  if (!subchannel) throw notFound('Subchannel');
  return subchannel;
}

function requireTemplate(state: SettingsState, { emailTemplateId = null }: Partial<SubchannelInput>): void {
  if (emailTemplateId !== null) requireNotDeleted(state, emailTemplateId, '#/emailTemplateId');
}

/** Adds or replaces a subchannel. If it is the default of its channel, no other one stays the default. */
function withSubchannel(state: SettingsState, changed: SubchannelState): SettingsChange {
  const others = state.subchannels.filter(({ id }) => id !== changed.id);
  if (changed.name === '') throw refused('#/name', 'too_short', 'must have a character that is not a space');
  for (const key of headerKeys) {
    const value = changed.data[key];
    if (typeof value === 'string' && hasLineBreak.test(value)) {
      throw refused(`#/data/${key}`, 'invalid_format', 'must not have line breaks or control characters');
    }
  }
  if (Object.keys(changed.secrets).length > maxSecrets) {
    throw refused('#/data', 'too_many_secrets', `may have ${maxSecrets} secret values`);
  }
  const name = changed.name.toLowerCase();
  if (others.some((one) => one.channel === changed.channel && one.name.toLowerCase() === name)) {
    const detail = 'The channel has a subchannel of this name.';
    throw new DomainError('already_exists', 'duplicate_subchannel', detail);
  }
  const replaced = changed.isDefault ? others.filter((one) => one.channel === changed.channel && one.isDefault) : [];
  const kept = others.map((one) => (replaced.includes(one) ? { ...one, isDefault: false } : one));
  const subchannels = [...kept, changed].sort((left, right) => left.id - right.id);
  return { state: { ...state, subchannels }, names: [], subchannelIds: [changed, ...replaced].map(({ id }) => id) };
}

const secretKey = /pass|secret|token|key|credential/i;

/**
 * Takes the secret values out of `data` and encrypts them; null replaces them. A secret that is given as null keeps the
 * value that is stored under its path.
 *
 * Errors: secret_required for a null in a list, whose items may have moved since they were read.
 */
function sealData(
  id: number,
  data: JsonObject,
  before: SubchannelState['secrets'],
  secretBox: SecretBox,
): Pick<SubchannelState, 'data' | 'secrets'> {
  const secrets: Record<string, SealedText> = {};
  const sealValue = (value: JsonValue, at: string, isInList: boolean): null => {
    if (value === null && isInList) throw refused(`#/data${at}`, 'secret_required', 'must be given in a list');
    const binding = subchannelBinding(id, at);
    const known = before[at];
    const text = JSON.stringify(value);
    const isKept = known && (value === null || secretBox.open(known, binding) === text);
    if (isKept) secrets[at] = known;
    else if (value !== null) secrets[at] = secretBox.seal(text, binding);
    return null;
  };
  const strip = (value: JsonValue, at: string, isInList: boolean): JsonValue => {
    if (Array.isArray(value)) return value.map((item, index) => strip(item, `${at}/${index}`, true));
    if (typeof value !== 'object' || value === null) return value;
    const members = Object.entries(value).map(([key, member]): [string, JsonValue] => {
      const memberAt = `${at}/${pointerSegment(key)}`;
      return [key, secretKey.test(key) ? sealValue(member, memberAt, isInList) : strip(member, memberAt, isInList)];
    });
    return Object.fromEntries(members);
  };
  return { data: strip(data, '', false) as JsonObject, secrets };
}

function refused(pointer: string, code: string, detail: string): DomainError {
  return invalidInput([{ pointer, code, detail }]);
}
