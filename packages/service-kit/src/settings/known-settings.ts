import { type DescField, getOption, hasOption, type JsonValue } from '@bufbuild/protobuf';
import type { SettingForm } from '@ticketing/contracts/ticketing/settings/v1/setting_form_pb.ts';
import { setting } from '@ticketing/contracts/ticketing/settings/v1/setting_form_pb.ts';
import { type Settings, SettingsSchema } from '@ticketing/contracts/ticketing/settings/v1/settings_pb.ts';
import { invalidInput } from '@ticketing/errors/domain-error.ts';
import { compileMessageDecoder, Problems } from '@ticketing/rest/codec/decode.ts';
import { messageValidator } from '@ticketing/rest/codec/rules.ts';

/** A setting of the installation, as the contract declares it. */
export interface KnownSetting {
  /** The name in JSON. */
  name: string;
  field: DescField;
  form: SettingForm;
  /** Null if the contract gives no default. */
  defaultValue: JsonValue;
}

/** Values of settings in JSON, by name. */
export type SettingValues = Readonly<Record<string, JsonValue>>;

/** All settings, by name, in the order of the contract. Source: docs/reference/api.md, Settings. */
export const knownSettings: ReadonlyMap<string, KnownSetting> = new Map(
  SettingsSchema.fields.map((field) => [field.jsonName, knownSetting(field)]),
);

const decode = compileMessageDecoder(SettingsSchema);
const validate = messageValidator(SettingsSchema);

/**
 * Returns the settings with the given values, and defaults for all others.
 *
 * Errors: those of an invalid value, with the pointer `#/<name>`.
 */
export function toSettings(values: SettingValues): Settings {
  const all = Object.fromEntries([...knownSettings.values()].map((one) => [one.name, one.defaultValue]));
  const problems = new Problems();
  const settings = decode({ ...all, ...values }, '#', problems) as Settings | undefined;
  const violations = settings && problems.violations.length === 0 ? validate(settings) : problems.violations;
  if (!settings || violations.length > 0) throw invalidInput(violations);
  return settings;
}

function knownSetting(field: DescField): KnownSetting {
  if (!hasOption(field, setting)) throw new Error(`${field.toString()} is not declared as a setting`);
  const form = getOption(field, setting);
  return {
    name: field.jsonName,
    field,
    form,
    defaultValue: form.default === '' ? null : (JSON.parse(form.default) as JsonValue),
  };
}
