import { isDeepStrictEqual } from 'node:util';
import type { JsonValue } from '@bufbuild/protobuf';
import { SettingType } from '@ticketing/contracts/ticketing/settings/v1/setting_form_pb.ts';
import { DomainError, invalidInput, notFound, type Violation } from '@ticketing/errors/domain-error.ts';
import { knownSettings, toSettings } from '@ticketing/service-kit/settings/known-settings.ts';
import { isCountry } from '@ticketing/text/phone-number.ts';
import type { SecretBox } from '@ticketing/text/sealed-text.ts';
import { businessHoursProblems, type ValueProblem } from './rules/business-hours.ts';
import { requireNotDeleted, templateSetting } from './rules/email-template-reference.ts';
import { headerRuleProblems } from './rules/header-rules.ts';
import { type SettingsChange, type SettingsState, settingBinding } from './rules/settings.ts';

/** The new value of a setting; null restores the default. */
export interface NewValue {
  name: string;
  value: JsonValue;
  /** The JSON Pointer of the value in the request. */
  pointer: string;
}

const maxViolations = 100;
const checks: Record<string, (value: JsonValue) => ValueProblem[]> = {
  businessHours: businessHoursProblems,
  defaultCountry: (value) => (isCountry(String(value)) ? [] : [{ at: '', detail: 'is not the code of a country' }]),
  programmaticHeaderRules: headerRuleProblems,
};

/**
 * Checks the new values of settings against their types and limits.
 *
 * Errors: setting_not_found; duplicate_setting; wrong_type, not_allowed, and the other codes of invalid values.
 */
export function requireValidValues(changes: readonly NewValue[]): void {
  if (changes.some(({ name }) => !knownSettings.has(name))) throw notFound('Setting');
  const names = changes.map(({ name }) => name);
  const again = changes.find(({ name }, index) => names.indexOf(name) < index);
  if (again) {
    const detail = `names ${again.name} a second time`;
    throw invalidInput([{ pointer: again.pointer, code: 'duplicate_setting', detail }]);
  }
  const violations = changes.flatMap(findViolations);
  if (violations.length > 0) throw invalidInput(violations);
}

function findViolations({ name, value, pointer }: NewValue): Violation[] {
  if (value === null) return [];
  try {
    toSettings({ [name]: value });
  } catch (error) {
    if (!(error instanceof DomainError)) throw error;
    const start = `#/${name}`.length;
    return error.violations.map((one) => ({ ...one, pointer: pointer + one.pointer.slice(start) }));
  }
  const problems = checks[name]?.(value) ?? [];
  return problems
    .slice(0, maxViolations)
    .map(({ at, detail }) => ({ pointer: pointer + at, code: 'invalid_value', detail }));
}

/** The secrets that are sent to the server which another setting names. */
const secretOfUrl: Readonly<Record<string, string>> = { aiBaseUrl: 'aiApiKey', erpBaseUrl: 'erpToken' };

/**
 * Sets valid values, and names the settings that differ. Secrets are encrypted. If a URL changes to
 * another server, its secret is dropped, unless the request sets it again: otherwise a caller who may change settings
 * could send the secret to their own server and read it there.
 *
 * Errors: unknown_template.
 */
export function decideSettings(
  state: SettingsState,
  changes: readonly NewValue[],
  secretBox: SecretBox,
): SettingsChange | undefined {
  const values = { ...state.values };
  const secrets = { ...state.secrets };
  const names = changes.flatMap(({ name, value, pointer }) => {
    if (name === templateSetting && value !== null) requireNotDeleted(state, Number(value), pointer);
    const isSecret = knownSettings.get(name)?.form.type === SettingType.SECRET;
    const sealed = secrets[name];
    const before = isSecret ? sealed && secretBox.open(sealed, settingBinding(name)) : values[name];
    if (isDeepStrictEqual(before ?? null, value)) return [];
    delete values[name];
    delete secrets[name];
    if (isSecret && typeof value === 'string') secrets[name] = secretBox.seal(value, settingBinding(name));
    else if (value !== null) values[name] = value;
    return [name];
  });
  for (const [urlName, secretName] of Object.entries(secretOfUrl)) {
    const isKept =
      changes.some(({ name }) => name === secretName) || !leavesServer(state.values[urlName], values[urlName]);
    if (isKept || !secrets[secretName]) continue;
    delete secrets[secretName];
    names.push(secretName);
  }
  return names.length > 0 ? { state: { ...state, values, secrets }, names, subchannelIds: [] } : undefined;
}

function leavesServer(before: JsonValue | undefined, after: JsonValue | undefined): boolean {
  return typeof before === 'string' && URL.parse(before)?.origin !== URL.parse(String(after))?.origin;
}
