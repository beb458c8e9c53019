import { Channel } from '@ticketing/contracts/ticketing/tickets/v1/enums_pb.ts';
import type { Violation } from '@ticketing/errors/domain-error.ts';
import { comparedAddress, foldedAddress, normalAddress } from '../../rules/mail-headers.ts';
import type { TicketInput, TicketState } from './fields.ts';
import type { HeaderRules, ProgramRules } from './spam.ts';

/** The data of a subchannel that the tickets service knows. */
export interface KnownSubchannel {
  enabled: boolean;
  interface: string;
  channel?: Channel;
  name?: string;
  isDefault?: boolean;
  /** The address of a mailbox. */
  address?: string | undefined;
  /** The e-mail template around its messages. */
  emailTemplateId?: number | undefined;
}

/** The subchannels by id; undefined as long as the settings service was never reached. */
export type Subchannels = ReadonlyMap<number, KnownSubchannel> | undefined;

/** The settings that decide who sends a mail. */
export interface SenderSettings {
  /** The sender of the installation. */
  mailFrom: string | null;
  subchannels: Subchannels;
  /** The form of signed return addresses; null without them. */
  returnAddress?: string | null;
}

/** The violation in the subchannel of a request, if it is unknown or disabled. `pointer` is that of its object. */
export function subchannelViolations(input: TicketInput, subchannels: Subchannels, pointer: string): Violation[] {
  const { subchannelId } = input;
  if (subchannelId === undefined || subchannelId === null) return [];
  const subchannel = subchannels?.get(subchannelId);
  if (subchannel?.enabled) return [];
  const detail = subchannel ? 'is disabled' : 'There is no such subchannel.';
  const code = subchannel ? 'subchannel_disabled' : 'unknown_subchannel';
  return [{ pointer: `${pointer}/subchannelId`, code, detail }];
}

/** The subchannel of a ticket as it is shown: null if it was deleted. */
export function shownSubchannelId({ subchannelId }: Pick<TicketState, 'subchannelId'>, subchannels: Subchannels) {
  if (subchannelId === null || !subchannels || subchannels.has(subchannelId)) return subchannelId;
  return null;
}

/** The ids of the e-mail templates for messages of a subchannel: its own before the default one. */
export function emailTemplateIds(
  subchannelId: number | null,
  { subchannels, genericTemplateId }: { subchannels: Subchannels; genericTemplateId: number | null },
): number[] {
  const own = subchannelId === null ? undefined : subchannels?.get(subchannelId)?.emailTemplateId;
  return [own, genericTemplateId].filter((id) => id !== undefined && id !== null);
}

/** The interface of a ticket: that of its subchannel. */
export function shownInterface({ subchannelId }: Pick<TicketState, 'subchannelId'>, subchannels: Subchannels): string {
  return (subchannelId === null ? undefined : subchannels?.get(subchannelId)?.interface) ?? 'internal';
}

/** The sender of a message. */
interface Sender {
  from: string | null;
  fromName: string | null;
  /** The mailbox that it is sent from, if one has the address. */
  mailboxId: number | null;
}

/**
 * The sender of a message: the first of some subchannels that is an enabled mailbox with an address, else the sender of
 * the installation.
 */
export function chooseSender({ subchannels, mailFrom }: SenderSettings, ids: readonly (number | null)[]): Sender {
  const mailboxes = ids.flatMap((id) => {
    const subchannel = isMailbox(id, subchannels) ? subchannels?.get(id) : undefined;
    return subchannel ? [{ id, ...subchannel }] : [];
  });
  const mailbox = mailboxes.find(({ address = '' }) => normalAddress(address) !== undefined);
  const fromName = (mailbox ?? mailboxes[0])?.name ?? null;
  return { from: mailbox?.address ?? mailFrom, fromName, mailboxId: mailbox?.id ?? null };
}

/** Whether a subchannel is an enabled mailbox. */
export function isMailbox(id: number | null, subchannels: Subchannels): id is number {
  const { enabled, channel } = (id === null ? undefined : subchannels?.get(id)) ?? {};
  return enabled === true && channel === Channel.EMAIL;
}

/** The sender of a mail: as `chooseSender`, and the default mailbox before the sender of the installation. */
export function chooseMailSender(settings: SenderSettings, ids: readonly (number | null)[]): Sender {
  return chooseSender(settings, [...ids, defaultMailboxId(settings.subchannels)]);
}

/** The enabled mailbox from which a message leaves whose ticket has none; null if there is none. */
export function defaultMailboxId(subchannels: Subchannels): number | null {
  const found = [...(subchannels ?? [])].find(
    ([, { enabled, channel, isDefault }]) => enabled && channel === Channel.EMAIL && isDefault,
  );
  return found?.[0] ?? null;
}

/**
 * The enabled mailboxes to which some addresses belong, in the order of the addresses. Case is ignored, and so is the
 * suffix after a `+` in the local part of an address, unless a mailbox has exactly that address.
 */
export function findMailboxes(addresses: readonly string[], subchannels: Subchannels): number[] {
  const ids = new Map<string, number>();
  for (const [id, { enabled, channel, address = '' }] of subchannels ?? []) {
    const folded = foldedAddress(address);
    if (enabled && channel === Channel.EMAIL && folded !== '' && !ids.has(folded)) ids.set(folded, id);
  }
  const found = addresses.flatMap((address) => {
    const folded = foldedAddress(address);
    return ids.get(folded) ?? ids.get(withoutTag(folded)) ?? [];
  });
  return [...new Set(found)];
}

/**
 * Returns whether an address is one of ours: that of a mailbox, also of a disabled one, a return address of it, or the
 * sender of the installation.
 */
export function ownAddresses({
  subchannels,
  mailFrom,
  returnAddress = null,
}: SenderSettings): (address: string) => boolean {
  const mailboxes = [...(subchannels?.values() ?? [])].filter(({ channel }) => channel === Channel.EMAIL);
  const own = new Set([mailFrom, ...mailboxes.map(({ address }) => address)].map((one) => comparedAddress(one ?? '')));
  own.delete('');
  const returned = new Set(
    returnAddress === null ? [] : [...own].map((one) => fillReturnAddress(returnAddress, one, '')),
  );
  return (address) => {
    const sought = comparedAddress(address);
    return own.has(sought) || own.has(withoutTag(sought)) || returned.has(sought.replace(signedTag, '@'));
  };
}

/** Returns the rules by which messages of programs are known. Our addresses are collected when the first one is asked for. */
export function programRules(settings: SenderSettings & { headerRules: HeaderRules }): ProgramRules {
  let isOwn: ((address: string) => boolean) | undefined;
  return {
    headers: settings.headerRules,
    isOurs(address) {
      isOwn ??= ownAddresses(settings);
      return isOwn(address);
    },
  };
}

/** The signed tag at the end of the name of a return address: the id of a message, and its signature. */
export const signedTag = /(?<=^|[._+=-])(\d{1,10})-([a-z2-7]{8})@(?=[^@]*$)/i;

/** Fills the form of a return address with a mailbox and a tag. */
export function fillReturnAddress(form: string, mailbox: string, tag: string): string {
  const at = mailbox.lastIndexOf('@');
  const values: Record<string, string> = { name: mailbox.slice(0, at), domain: mailbox.slice(at + 1), tag };
  return form.replace(/\{(name|domain|tag)\}/g, (_, name: string) => values[name] ?? '');
}

function withoutTag(address: string): string {
  const at = address.lastIndexOf('@');
  const plus = address.indexOf('+');
  return plus > 0 && plus < at ? address.slice(0, plus) + address.slice(at) : address;
}
