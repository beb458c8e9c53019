import { toJson } from '@bufbuild/protobuf';
import { type Value, ValueSchema } from '@bufbuild/protobuf/wkt';
import type { Setting } from '@ticketing/contracts/ticketing/settings/v1/settings_service_pb.ts';
import { invalidInput } from '@ticketing/errors/domain-error.ts';
import type { Call } from '@ticketing/service-kit/call/call.ts';
import { knownSettings } from '@ticketing/service-kit/settings/known-settings.ts';
import { decideSettings, type NewValue, requireValidValues } from './decide.ts';
import type { SettingParts } from './open.ts';
import { requireTag, requireTemplate } from './require-references.ts';
import { templateSetting } from './rules/email-template-reference.ts';
import { settingToProto } from './to-proto.ts';

/** The new value of a setting in a request, and its pointer. */
export interface RequestedValue {
  name: string;
  value: Value | undefined;
  pointer: string;
}

/**
 * Changes settings, all or none, and returns them.
 *
 * Errors: setting_not_found, duplicate_setting, unknown_tag, unknown_template, those of invalid values and URLs; if a
 * value names a tag or an e-mail template, those of the service that has it.
 */
export async function saveSettings(
  parts: SettingParts,
  call: Call,
  requested: readonly RequestedValue[],
): Promise<Setting[]> {
  const { settings, secretBox, newEvent } = parts;
  const changes = requested.map(({ name, value, pointer }) => ({
    name,
    value: value ? toJson(ValueSchema, value) : null,
    pointer,
  }));
  requireValidValues(changes);
  for (const change of changes) await requireReferences(parts, call, change);
  const after = await settings.change((current) => decideSettings(current, changes, secretBox), newEvent(call));
  return changes.flatMap(({ name }) => {
    const known = knownSettings.get(name);
    return known ? [settingToProto(known, after)] : [];
  });
}

/** The settings with URLs to which this system sends requests. */
const urlNames = new Set(['aiBaseUrl', 'erpBaseUrl']);

/** Refuses the id of something that does not exist, and a URL that may not be called. */
async function requireReferences(parts: SettingParts, call: Call, { name, value, pointer }: NewValue): Promise<void> {
  if (value === null) return;
  if (name === 'spamDetectionTagId') await requireTag(parts, call, Number(value), pointer);
  if (name === templateSetting) await requireTemplate(parts, call, Number(value), pointer);
  if (urlNames.has(name)) {
    const problem = parts.outbound.checkUrl(String(value));
    if (problem) throw invalidInput([{ pointer, ...problem }]);
  }
}
