import { type DomainError, invalidInput } from '@ticketing/errors/domain-error.ts';
import type { SettingsChange, SettingsState } from './settings.ts';

/** The setting that names an e-mail template. */
export const templateSetting = 'genericTemplateId';

/** How many ids of deleted e-mail templates are kept. A request checks an id seconds before it is written. */
const maxDeletedIds = 1000;

/** Makes the error for the id of an e-mail template that does not exist. */
export function unknownTemplate(pointer: string): DomainError {
  return invalidInput([{ pointer, code: 'unknown_template', detail: 'There is no such e-mail template.' }]);
}

/**
 * Refuses the id of an e-mail template that was deleted after the request had checked that it exists.
 *
 * Errors: unknown_template.
 */
export function requireNotDeleted(
  { deletedTemplateIds }: Pick<SettingsState, 'deletedTemplateIds'>,
  id: number,
  pointer: string,
): void {
  if (deletedTemplateIds.includes(id)) throw unknownTemplate(pointer);
}

/** Removes a deleted e-mail template from the subchannels and the setting that name it; undefined if it was removed. */
export function dropEmailTemplate(state: SettingsState, id: number): SettingsChange | undefined {
  if (state.deletedTemplateIds.includes(id)) return undefined;
  const { [templateSetting]: generic, ...others } = state.values;
  const isGeneric = generic === id;
  const naming = state.subchannels.filter(({ emailTemplateId }) => emailTemplateId === id);
  return {
    state: {
      ...state,
      values: isGeneric ? others : state.values,
      subchannels: state.subchannels.map((one) => (naming.includes(one) ? { ...one, emailTemplateId: null } : one)),
      deletedTemplateIds: [...state.deletedTemplateIds, id].slice(-maxDeletedIds),
    },
    names: isGeneric ? [templateSetting] : [],
    subchannelIds: naming.map((one) => one.id),
  };
}
