import { withinCpuTime } from '@ticketing/testkit/machine-limits.ts';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { normalAddress } from '../../rules/mail-headers.ts';
import { newMessageId, type OutgoingMail, recipientsLeft, ticketTokens } from './outgoing-mail.ts';

test('a Message-ID has the domain of its sender', () => {
  expect(newMessageId('msg_1', 'help@Shop.Example')).toBe('<msg_1@shop.example>');
  expect(newMessageId('msg_1', 'help@münchen.example')).toBe('<msg_1@xn--mnchen-3ya.example>');
  for (const from of [null, '', 'help', 'help@a b.example', 'help@a.example>\r\nBcc: x@y.example']) {
    expect(newMessageId('msg_1', from)).toBe('<msg_1@ticketing.invalid>');
  }
});

test('writes the domain of an address in lower case and ASCII', () => {
  expect(normalAddress('Kim.O@Example.COM')).toBe('Kim.O@example.com');
  expect(normalAddress('kim@BÜRO.example')).toBe('kim@xn--bro-hoa.example');
  for (const text of [
    '',
    'kim',
    'kim@example',
    'kim@a.b\r\nc',
    'k\0im@a.example',
    'a@b.example,c@d.example',
    'a@b..c',
  ]) {
    expect(normalAddress(text)).toBeUndefined();
  }
});

test('sends to every recipient once, except to those that the mail has reached', () => {
  const lists = {
    to: ['a@x.example', 'A@X.example'],
    cc: ['a@X.EXAMPLE', 'b@x.example'],
    bcc: ['c@x.example', 'kim@\u0085x.example', '+49 30 1', 'Visitor 7'],
  };
  const mail = { ...lists, reached: ['b@x.example'] } as unknown as OutgoingMail;
  expect(recipientsLeft(mail)).toEqual({
    addresses: ['a@x.example', 'A@x.example', 'c@x.example'],
    invalid: ['kim@\u0085x.example'],
  });
});

const tokens = ticketTokens(Buffer.alloc(32, 1));
const renderToken = (ticketId: number) => tokens.mark('', ticketId);

test('finds the ticket of every subject that it has marked, whatever stands around the token', () => {
  fc.assert(
    fc.property(fc.string(), fc.integer({ min: 1, max: 2 ** 31 - 1 }), fc.string(), (before, ticketId, after) => {
      expect(tokens.find(`${before}${renderToken(ticketId)}${after}`)).toBe(ticketId);
      expect(tokens.find(tokens.mark(before, ticketId))).toBe(ticketId);
    }),
  );
});

test('has the form [#id-signature], with 40 bits of signature', () => {
  expect(renderToken(123)).toMatch(/^\[#123-[a-z2-7]{8}\]$/);
  expect(tokens.mark('Re: Größe', 123)).toBe(`Re: Größe ${renderToken(123)}`);
});

test('finds a token in upper case', () => {
  expect(tokens.find(`RE: ${renderToken(7)}`.toUpperCase())).toBe(7);
});

// guarantee: I14
test('finds no token with another id, another signature, or of another key', () => {
  expect(tokens.find(renderToken(7).replace('#7-', '#8-'))).toBeUndefined();
  expect(tokens.find(renderToken(7).replace('#7-', '#07-'))).toBeUndefined();
  expect(tokens.find(ticketTokens(Buffer.alloc(32, 2)).mark('', 7))).toBeUndefined();
  const [, signature = ''] = /-(\w+)\]/.exec(renderToken(7)) ?? [];
  for (let index = 0; index < signature.length; index += 1) {
    const flipped = signature[index] === 'a' ? 'b' : 'a';
    expect(tokens.find(`[#7-${signature.slice(0, index)}${flipped}${signature.slice(index + 1)}]`)).toBeUndefined();
  }
  expect(tokens.find('')).toBeUndefined();
  expect(tokens.find('[#7]')).toBeUndefined();
});

test('marks a subject once, with the token of the ticket that sends', () => {
  expect(tokens.mark(tokens.mark('Hello', 7), 7)).toBe(`Hello ${renderToken(7)}`);
  expect(tokens.mark(tokens.mark('Hello', 7), 8)).toBe(`Hello ${renderToken(8)}`);
  expect(tokens.mark('', 7)).toBe(renderToken(7));
});

test('takes the last valid token of several', () => {
  expect(tokens.find(`${renderToken(1)} ${renderToken(2)} [#3-aaaaaaaa]`)).toBe(2);
});

test('cuts a subject of 998 characters, and never in the middle of a character', () => {
  const marked = tokens.mark('x'.repeat(998), 7);
  expect(marked).toHaveLength(998);
  expect(tokens.find(marked)).toBe(7);
  const room = 998 - renderToken(7).length - 1;
  expect(tokens.mark('x'.repeat(room), 7)).toHaveLength(998);
  expect(tokens.mark(`${'x'.repeat(room - 1)}😀`, 7)).toBe(`${'x'.repeat(room - 1)} ${renderToken(7)}`);
});

test('looks through a long hostile subject quickly', async () => {
  const subject = '[#1-aaaaaaaa]'.repeat(10_000) + '[#'.repeat(10_000) + '9'.repeat(10_000);
  expect(await withinCpuTime(500, () => tokens.find(subject))).toBeUndefined();
});
