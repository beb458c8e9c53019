import { domainToASCII } from 'node:url';
import { Channel, Direction } from '@ticketing/contracts/ticketing/tickets/v1/enums_pb.ts';
import type { Violation } from '@ticketing/errors/domain-error.ts';

export interface GivenAddresses {
  channel: Channel;
  from?: string | undefined;
  to: readonly string[];
  cc: readonly string[];
  bcc: readonly string[];
}

const emailPattern = /^[^\s@<>(),;:"[\]\\]{1,64}@[^\s@<>(),;:"[\]\\./?#%]+(?:\.[^\s@<>(),;:"[\]\\./?#%]+)+$/;

export function isEmailAddress(text: string): boolean {
  return emailPattern.test(text);
}

/** The form of an address in which it is compared with others. */
export function foldedAddress(address: string): string {
  return address.trim().toLowerCase();
}

/**
 * The spelling of an address for mail servers: the domain in ASCII and lower case. Undefined for a text that is no
 * e-mail address.
 */
export function normalAddress(address: string): string | undefined {
  if (!isEmailAddress(address) || /\p{Cc}/u.test(address)) return undefined;
  const at = address.lastIndexOf('@');
  const host = domainToASCII(address.slice(at + 1));
  return host === '' ? undefined : `${address.slice(0, at)}@${host}`;
}

/** The spelling in which the addresses of mail servers are compared, which take different ones for one address. */
export function comparedAddress(address: string): string {
  return foldedAddress(normalAddress(address) ?? address);
}

const noReplyPattern =
  /(?:^|[._+-])(?:no[._-]?repl(?:y|ies)|do[._-]?not[._-]?reply|mailer-daemon|(?:kein|nicht)e?[._-]?antwort(?:en)?|ne[._-]?pas[._-]?repondre|no[._-]?respond(?:er|a)|n(?:a|ã)o[._-]?responda|non[._-]?rispondere|niet[._-]?(?:be)?antwoorden|geen[._-]?antwoord|(?:svar[._-]?)?ikke[._-]?svar|svar[._-]?(?:ikke|inte)|(?:ej|inte)[._-]?svar|nie[._-]?odpowiada[cj]|neodpov[ií]dat|nincs[._-]?v[aá]lasz|ne[._-]?valaszoljon|nu[._-]?r[aă]spunde(?:ti|ți)?|ne[._-]?odgovarajte?|yanitlama|ala[._-]?vastaa)(?=[._+\d-]|$)/i;

/** Whether the name of an address says that nobody reads what is sent to it. */
export function isNoReply(address: string): boolean {
  return noReplyPattern.test(address.slice(0, Math.min(address.lastIndexOf('@'), 64)));
}

/**
 * Checks the addresses of a ticket, or of a message that was recorded: as `formatViolations`, and only outgoing e-mail may
 * have blind copies.
 *
 * Source: docs/reference/api.md, Creating a ticket; docs/decisions/0003-addresses-by-channel.md.
 */
export function addressViolations({ direction, ...given }: GivenAddresses & { direction: Direction }): Violation[] {
  const violations = formatViolations(given);
  if (given.bcc.length > 0 && !(given.channel === Channel.EMAIL && direction === Direction.OUT)) {
    violations.push({ pointer: '#/bcc', code: 'not_allowed', detail: 'is for outgoing e-mail only' });
  }
  return violations;
}

/**
 * Checks the form of addresses. On the channels email and portal they must be e-mail addresses; on other channels they
 * may be any identifiers.
 */
export function formatViolations(given: GivenAddresses): Violation[] {
  const violations: Violation[] = [];
  const requireEmail = (pointer: string, address: string) => {
    if (!isEmailAddress(address)) {
      violations.push({ pointer, code: 'invalid_format', detail: 'must be an e-mail address' });
    }
  };
  if (given.channel === Channel.EMAIL || given.channel === Channel.PORTAL) {
    if (given.from !== undefined) requireEmail('#/from', given.from);
    for (const list of ['to', 'cc', 'bcc'] as const) {
      given[list].forEach((address, index) => {
        requireEmail(`#/${list}/${index}`, address);
      });
    }
  }
  return violations;
}

/** A text as one line without control characters. Spaces stay, but for those that follow a line break. */
export function oneLine(text: string): string {
  return text.replace(/[\p{Cc}\u2028\u2029][ \p{Cc}\u2028\u2029]*/gu, ' ');
}
