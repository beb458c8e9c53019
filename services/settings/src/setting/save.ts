import { toJson } from '@bufbuild/protobuf';
import { type Value, ValueSchema } from '@bufbuild/protobuf/wkt';
import type { Setting } from '@ticketing/contracts/ticketing/settings/v1/settings_service_pb.ts';
import { invalidInput } from '@ticketing/errors/domain-error.ts';
import type { Call } from '@ticketing/service-kit/call/call.ts';
import { knownSettings } from '@ticketing/service-kit/settings/known-settings.ts';
import type { Context } from '../context.ts';
import { decideSettings, type NewValue, requireValidValues } from './decide.ts';
import { eventHeaderOf } from './event-header.ts';
import { requireTag, requireTemplate } from './require-references.ts';
import { templateSetting } from './rules/email-template-reference.ts';
import { settingMessage } from './to-proto.ts';

/** The new value of a setting in a request, and its pointer. */
export interface GivenValue {
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
export async function saveSettings(context: Context, call: Call, given: readonly GivenValue[]): Promise<Setting[]> {
  const changes = given.map(({ name, value, pointer }) => ({
    name,
    value: value ? toJson(ValueSchema, value) : null,
    pointer,
  }));
  requireValidValues(changes);
  for (const change of changes) await requireReferences(context, call, change);
  const state = await context.configuration.change(
    (current) => decideSettings(current, changes, context.secretBox),
    eventHeaderOf(context, call),
  );
  return changes.flatMap(({ name }) => {
    const known = knownSettings.get(name);
    return known ? [settingMessage(known, state)] : [];
  });
}

/** The settings with URLs to which this system sends requests. */
const urlNames = new Set(['aiBaseUrl', 'erpBaseUrl']);

/** Refuses the id of something that does not exist, and a URL that may not be called. */
async function requireReferences(context: Context, call: Call, { name, value, pointer }: NewValue): Promise<void> {
  if (value === null) return;
  if (name === 'spamDetectionTagId') await requireTag(context, call, Number(value), pointer);
  if (name === templateSetting) await requireTemplate(context, call, Number(value), pointer);
  if (urlNames.has(name)) {
    const problem = context.outbound.checkUrl(String(value));
    if (problem) throw invalidInput([{ pointer, ...problem }]);
  }
}
