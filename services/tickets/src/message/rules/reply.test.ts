import { Channel } from '@ticketing/contracts/ticketing/tickets/v1/enums_pb.ts';
import { expect, test } from 'vitest';
import { initialTicket, type TicketState } from '../../ticket/rules/fields.ts';
import { chooseRecipients, replySubject, withOneReplyPrefix } from './reply.ts';

const nobody = { to: [], cc: [], bcc: [] };
const isOurs = (address: string) => address === 'us@example.org';
const ticket = (fields: Partial<TicketState>): TicketState => ({ ...initialTicket, id: 1, ...fields });
const mail = ticket({ channel: Channel.EMAIL, from: 'kim@example.com', cc: ['boss@example.com', 'us@example.org'] });

test('without recipients, a reply goes to the recommended ones', () => {
  expect(chooseRecipients(mail, nobody, isOurs)).toEqual({
    to: ['kim@example.com'],
    cc: ['boss@example.com'],
    bcc: [],
  });
  const call = ticket({ channel: Channel.PHONE, from: '+49 30 1', customerEmail: 'kim@example.com' });
  expect(chooseRecipients(call, nobody, isOurs)).toEqual({ to: ['kim@example.com'], cc: [], bcc: [] });
  expect(chooseRecipients(ticket({ channel: Channel.SYSTEM }), nobody, isOurs)).toEqual(nobody);
});

test('recipients that are given replace the recommended ones, but a missing `to`', () => {
  expect(chooseRecipients(mail, { ...nobody, to: ['x@y.de'] }, isOurs)).toEqual({ to: ['x@y.de'], cc: [], bcc: [] });
  expect(chooseRecipients(mail, { ...nobody, cc: ['x@y.de'] }, isOurs)).toEqual({
    to: ['kim@example.com'],
    cc: ['x@y.de'],
    bcc: [],
  });
});

test.each([
  ['Meter', 'Re: Meter'],
  ['re: Meter', 'Re: Meter'],
  ['Re: AW: Re: AW: Zähler', 'Re: Zähler'],
  ['SV: VS: Mätare', 'Re: Mätare'],
  ['Re[2]: RE(3): Re^2: R: Contatore', 'Re: Contatore'],
  ['Antw.: Odp: YNT: RES : x', 'Re: Antw.: Odp: YNT: RES : x'],
  ['Antw: Odp: YNT: RES : x', 'Re: x'],
  ['Antwort: Re: SVAR: Odg: Zähler', 'Re: Zähler'],
  ['ΑΠ: Отв: Ответ: Réf: x', 'Re: x'],
  ['回复：Re: 报价', 'Re: 报价'],
  ['Fwd: Re: Meter', 'Re: Fwd: Re: Meter'],
  ['Reminder: Meter', 'Re: Reminder: Meter'],
  ['Re:', 'Re:'],
  [null, null],
  ['', null],
  ['x'.repeat(998), `Re: ${'x'.repeat(994)}`],
])('the subject %j is answered as %j', (subject, expected) => {
  expect(replySubject({ subject })).toBe(expected);
});

test.each([
  ['AW: Re: Meter', 'Re: Meter'],
  ['Re: Meter', 'Re: Meter'],
  ['Meter', 'Meter'],
  ['WG: Re: Meter', 'WG: Re: Meter'],
])('the subject %j that is given becomes %j', (subject, expected) => {
  expect(withOneReplyPrefix(subject)).toBe(expected);
});
