import { create, type DescEnum, fromJson } from '@bufbuild/protobuf';
import { ValueSchema } from '@bufbuild/protobuf/wkt';
import {
  type SettingCategory,
  SettingCategorySchema,
  type SettingGroup,
  SettingGroupSchema,
  SettingType,
} from '@ticketing/contracts/ticketing/settings/v1/setting_form_pb.ts';
import {
  type Setting,
  type SettingConfig,
  SettingConfigSchema,
  SettingSchema,
} from '@ticketing/contracts/ticketing/settings/v1/settings_service_pb.ts';
import { notFound } from '@ticketing/errors/domain-error.ts';
import { readFieldRules, readSpellings } from '@ticketing/rest/codec/options.ts';
import { type Comments, findComments } from '@ticketing/rest/documents/comments.ts';
import { type KnownSetting, knownSettings } from '@ticketing/service-kit/settings/known-settings.ts';
import type { SettingsState } from './rules/settings.ts';

/** Returns a setting with its current value. A secret has none. */
export function settingToProto(known: KnownSetting, { values, secrets }: SettingsState): Setting {
  const { name, form, field, defaultValue } = known;
  const isSecret = form.type === SettingType.SECRET;
  return create(SettingSchema, {
    name,
    category: form.category,
    group: groupComments(form.group).summary,
    label: form.label,
    description: findComments(field).text,
    type: form.type,
    ...toConfig(known, isSecret ? secrets[name] !== undefined : undefined),
    value: fromJson(ValueSchema, values[name] ?? defaultValue),
    defaultValue: fromJson(ValueSchema, defaultValue),
  });
}

/** Returns the settings of a category; all settings without one. Errors: setting_category_not_found. */
export function settingsOfCategory(category: string | undefined): KnownSetting[] {
  const all = [...knownSettings.values()];
  if (category === undefined) return all;
  const number = categoryNamed(category);
  return all.filter(({ form }) => form.category === number);
}

/** Returns the category with a name. Errors: setting_category_not_found. */
export function categoryNamed(name: string): SettingCategory {
  for (const [number, spelling] of readSpellings(SettingCategorySchema))
    if (spelling === name) return number as SettingCategory;
  throw notFound('Setting category');
}

/** Returns the name of a category for people. */
export function categoryTitle(category: SettingCategory): string {
  return readComments(SettingCategorySchema, category).summary;
}

/** Returns the name of a group for people, and its description. */
export function groupComments(group: SettingGroup): Comments {
  return readComments(SettingGroupSchema, group);
}

function readComments(schema: DescEnum, number: number): Comments {
  const value = schema.value[number];
  if (!value) throw new Error(`${schema.typeName} has no value ${number}`);
  return findComments(value);
}

function toConfig({ field }: KnownSetting, isSet: boolean | undefined): { config?: SettingConfig } {
  const { minimum, maximum, minLength, maxLength, pattern } = readFieldRules(field);
  const schema = field.enum;
  const options = schema
    ? [...readSpellings(schema)].map(([number, value]) => ({ value, label: readComments(schema, number).summary }))
    : [];
  const min = minimum === undefined ? minLength : Number(minimum);
  const max = maximum === undefined ? maxLength : Number(maximum);
  const limits = { ...(min === undefined ? {} : { min }), ...(max === undefined ? {} : { max }) };
  const others = { ...(pattern === '' ? {} : { pattern }), ...(isSet === undefined ? {} : { isSet }) };
  const config = { ...limits, ...others };
  if (options.length === 0 && Object.keys(config).length === 0) return {};
  return { config: create(SettingConfigSchema, { options, ...config }) };
}
