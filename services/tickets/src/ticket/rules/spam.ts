import type { JsonValue } from '@bufbuild/protobuf';
import { SpamStatus } from '@ticketing/contracts/ticketing/tickets/v1/enums_pb.ts';
import type { TicketInput } from './fields.ts';

/** The statuses that exclude a ticket from routing. Source: docs/reference/api.md, Spam. */
export const spamStatuses: readonly SpamStatus[] = [
  SpamStatus.AUTO_SPAM,
  SpamStatus.AUTO_PROGRAMMATIC,
  SpamStatus.MANUAL_SPAM,
];

/** Whether a status marks a ticket as spam; unset does not. */
export function isSpam(status: SpamStatus | null): boolean {
  return status !== null && spamStatuses.includes(status);
}

/** Whether a status may be set by a request. */
export function isManual(status: SpamStatus): boolean {
  return status === SpamStatus.MANUAL_SPAM || status === SpamStatus.MANUAL_CLEAN;
}

/** Whether a ticket is spam by its status, or at run time by its tags. */
export function countsAsSpam(
  { spamStatus, tagIds }: { spamStatus: SpamStatus | null; tagIds: readonly number[] },
  spamTagId: number | null,
): boolean {
  return isSpam(spamStatus) || (spamTagId !== null && tagIds.includes(spamTagId));
}

/** The header rule: by which headers a message shows that a program has sent it. Names and values are in lower case. */
export type HeaderRules = ReadonlyMap<string, HeaderRule>;

/** The values of a header that show it. */
interface HeaderRule {
  any: boolean;
  values: ReadonlySet<string>;
  /** Every value that is not among these shows it; null without such a rule. */
  otherThan: ReadonlySet<string> | null;
}

/**
 * Reads the setting `programmaticHeaderRules`. Values of another form are no rules.
 *
 * Source: docs/reference/api.md, Settings.
 */
export function readHeaderRules(setting: JsonValue | undefined): HeaderRules {
  if (typeof setting !== 'object' || setting === null || Array.isArray(setting)) return new Map();
  return new Map(Object.entries(setting).map(([name, values]) => [name.toLowerCase(), headerRule(values)]));
}

function headerRule(setting: JsonValue): HeaderRule {
  const given = Array.isArray(setting) ? setting.filter((value) => typeof value === 'string') : [];
  const others = given.filter((value) => value.startsWith('!')).map((value) => value.slice(1));
  const values = given.filter((value) => !value.startsWith('!'));
  return {
    any: setting === true,
    values: new Set(values.map(folded)),
    otherThan: others.length > 0 ? new Set(others.map(folded)) : null,
  };
}

/** The rules by which messages of programs are known: those for headers, and the addresses that are ours. */
export interface ProgramRules {
  headers: HeaderRules;
  /** A mailing list with such an address is a group of people that reads a mailbox. */
  isOurs(address: string): boolean;
}

/**
 * Whether the headers of a message say that a program has sent it: by a rule, as a report of a mail server, or because
 * nobody is to be told if it does not arrive. The headers that a mailing list of ours adds to a mail say nothing.
 * `headers` is `rawData.headers`: an object whose names have no regard to case and whose values are a text or a list of
 * texts; values of another form are no headers.
 *
 * Source: docs/reference/api.md, Spam; RFC 5321, section 4.5.5.
 */
export function isProgrammatic(rules: ProgramRules, headers: unknown): boolean {
  if (typeof headers !== 'object' || headers === null || Array.isArray(headers)) return false;
  const texts = Object.entries(headers).map(([name, value]) => [name.trim().toLowerCase(), textsIn(value)] as const);
  const isShown = ([name, values]: readonly [string, readonly string[]]) => {
    const rule = rules.headers.get(name);
    return values.some((value) => isOfServer(name, value) || (rule !== undefined && matches(rule, value)));
  };
  const shown = texts.filter(isShown);
  return shown.length > 0 && !(shown.every(isOfList) && hasOwnList(rules, texts));
}

function textsIn(value: unknown): string[] {
  const values: readonly unknown[] = Array.isArray(value) ? value : [value];
  return values.filter((one) => typeof one === 'string');
}

function isOfServer(name: string, value: string): boolean {
  if (name === 'return-path') return value.trim() === '<>';
  // Exchange writes it without a value.
  if (name === 'x-ms-exchange-message-is-ndr') return true;
  return name === 'content-type' && /^\s*multipart\/report\b/i.test(value);
}

function isOfList([name, values]: readonly [string, readonly string[]]): boolean {
  return name === 'list-id' || (name === 'precedence' && values.every((value) => folded(value) === 'list'));
}

const listHeaders = ['list-post', 'list-id', 'mailing-list', 'x-beenthere'];
const maxListValueChars = 1_000;

/** Whether a mailing list has one of our addresses. `List-Id` writes it with a dot for the `@` (RFC 2919). */
function hasOwnList({ isOurs }: ProgramRules, headers: readonly (readonly [string, readonly string[]])[]): boolean {
  return headers.some(([name, values]) => {
    if (!listHeaders.includes(name)) return false;
    const words = values.flatMap((value) => value.slice(0, maxListValueChars).match(/[^\s<>:;,"()]+/g) ?? []);
    const isOurList = (word: string) =>
      [...word.matchAll(/\./g)].some(({ index }) => isOurs(`${word.slice(0, index)}@${word.slice(index + 1)}`));
    return words.some((word) => isOurs(word) || (name === 'list-id' && isOurList(word)));
  });
}

/** Compares a value as a whole, and by its first word alone, without parameters and the like. */
function matches({ any, values, otherThan }: HeaderRule, value: string): boolean {
  const whole = folded(value);
  if (whole === '') return false;
  const word = /^[^\s;(]*/.exec(whole)?.[0] ?? whole;
  const isIn = (set: ReadonlySet<string>) => set.has(whole) || set.has(word);
  return any || isIn(values) || (otherThan !== null && !isIn(otherThan));
}

const folded = (value: string) => value.trim().toLowerCase();

/** A new ticket with the status of a message of a program, if it is one and the ticket has no status yet. */
export function withHeaderRule(input: TicketInput, rules: ProgramRules): TicketInput {
  const hasStatus = (input.spamStatus ?? null) !== null;
  if (hasStatus || !isProgrammatic(rules, readHeaders(input.rawData))) return input;
  return { ...input, spamStatus: SpamStatus.AUTO_PROGRAMMATIC };
}

function readHeaders(rawData: string | null | undefined): unknown {
  // Most raw data have no headers, and can be large.
  if (!rawData?.includes('"headers"')) return undefined;
  const parsed: unknown = JSON.parse(rawData);
  return typeof parsed === 'object' && parsed !== null && 'headers' in parsed ? parsed.headers : undefined;
}
