import type { TemplateSettings } from '../settings.ts';
import type { EmailTemplateState } from './rules.ts';
import type { EmailTemplateStore } from './store.ts';

/** The dependencies that find the e-mail template around a text. */
export interface WrapperParts {
  emailTemplates: EmailTemplateStore;
  settings(): Promise<TemplateSettings>;
}

/** A text that may name an e-mail template. */
interface Wrapped {
  emailTemplateId: number | null;
}

/** The e-mail templates around some templates. */
export interface Wrappers {
  /** The texts of the e-mail templates that exist, by id. */
  byId: ReadonlyMap<number, string>;
  /** The text of the e-mail template around templates that name none. */
  generic: string | undefined;
}

/** Reads the e-mail templates around some templates. Errors: store_unavailable. */
export async function readWrappers(
  { emailTemplates, settings }: WrapperParts,
  templates: readonly Wrapped[],
): Promise<Wrappers> {
  const { genericTemplateId } = await settings();
  const texts = await emailTemplates.findSome(wrapperIds(templates, genericTemplateId));
  const byId = new Map(texts.map(({ id, template }) => [id, template]));
  return { byId, generic: genericTemplateId === undefined ? undefined : byId.get(genericTemplateId) };
}

/** Returns the ids of the e-mail templates that some templates name, and of the generic one. */
function wrapperIds(templates: readonly Wrapped[], genericTemplateId: number | undefined): number[] {
  const ids = [...templates.map(({ emailTemplateId }) => emailTemplateId), genericTemplateId];
  return [...new Set(ids.filter((id) => id !== null && id !== undefined))];
}

/** Returns the e-mail template around a template; undefined if there is none. */
export function findWrapperText({ byId, generic }: Wrappers, { emailTemplateId }: Wrapped): string | undefined {
  return (emailTemplateId === null ? undefined : byId.get(emailTemplateId)) ?? generic;
}

/** Reads the first e-mail template of a list that exists. Errors: store_unavailable. */
export async function findFirst(
  { emailTemplates }: Pick<WrapperParts, 'emailTemplates'>,
  ids: readonly number[],
): Promise<EmailTemplateState | undefined> {
  const existing = new Set((await emailTemplates.sizes(ids)).map(({ id }) => id));
  const id = ids.find((one) => existing.has(one));
  return id === undefined ? undefined : emailTemplates.find(id);
}

/** Returns the bytes of the e-mail template around each text. Errors: store_unavailable. */
export async function readWrapperSizes(
  { emailTemplates, settings }: WrapperParts,
  templates: readonly Wrapped[],
): Promise<number[]> {
  const { genericTemplateId } = await settings();
  const entries = await emailTemplates.sizes(wrapperIds(templates, genericTemplateId));
  const sizes = new Map(entries.map(({ id, bytes }) => [id, bytes]));
  const generic = sizes.get(genericTemplateId ?? 0) ?? 0;
  return templates.map(({ emailTemplateId }) => sizes.get(emailTemplateId ?? 0) ?? generic);
}
