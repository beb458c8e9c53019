import { toJson } from '@bufbuild/protobuf';
import { type Value, ValueSchema } from '@bufbuild/protobuf/wkt';
import { Code, ConnectError } from '@connectrpc/connect';
import type { Setting } from '@ticketing/contracts/ticketing/settings/v1/settings_service_pb.ts';
import { invalidInput } from '@ticketing/errors/domain-error.ts';
import type { Call } from '@ticketing/service-kit/server/call.ts';
import { knownSettings } from '@ticketing/service-kit/settings/known-settings.ts';
import type { Context } from './context.ts';
import { decideSettings, type NewValue, requireValidValues } from './decide-settings.ts';
import { eventHeaderOf } from './event-header.ts';
import { settingMessage } from './setting-message.ts';

/** The new value of a setting in a request, and its pointer. */
export interface GivenValue {
  name: string;
  value: Value | undefined;
  pointer: string;
}

/**
 * Changes settings, all or none, and returns them.
 *
 * Errors: setting_not_found, duplicate_setting, unknown_tag, unknown_template, those of invalid values and URLs; if a value names
 * a tag, those of the tickets service.
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
  if (name === 'spamDetectionTagId' && !(await tagExists(context, call, Number(value)))) {
    throw invalidInput([{ pointer, code: 'unknown_tag', detail: 'There is no such tag.' }]);
  }
  if (urlNames.has(name)) {
    const problem = context.outbound.checkUrl(String(value));
    if (problem) throw invalidInput([{ pointer, ...problem }]);
  }
  if (name === 'genericTemplateId') throw unknownTemplate(pointer);
}

/** The error for the id of an e-mail template: no service keeps templates yet. */
export function unknownTemplate(pointer: string): Error {
  return invalidInput([{ pointer, code: 'unknown_template', detail: 'There is no such template.' }]);
}

async function tagExists(context: Context, call: Call, id: number): Promise<boolean> {
  try {
    await context.tags(call).getTag({ id });
    return true;
  } catch (error) {
    if (error instanceof ConnectError && error.code === Code.NotFound) return false;
    throw error;
  }
}
