import { expect, test } from 'vitest';
import { newMessageId, normalAddress, type OutgoingMail, recipientsLeft, referencesAmong } from './outgoing-mail.ts';

test('a Message-ID has the domain of its sender', () => {
  expect(newMessageId('msg_1', 'help@Shop.Example')).toBe('<msg_1@shop.example>');
  expect(newMessageId('msg_1', 'help@münchen.example')).toBe('<msg_1@xn--mnchen-3ya.example>');
  for (const from of [null, '', 'help', 'help@a b.example', 'help@a.example>\r\nBcc: x@y.example']) {
    expect(newMessageId('msg_1', from)).toBe('<msg_1@ticketing.invalid>');
  }
});

test('refers to the first mail and the 19 newest ones', () => {
  const ids = Array.from({ length: 25 }, (_, index) => `<${index}@example.com>`);
  expect(referencesAmong(ids.slice(0, 20))).toEqual(ids.slice(0, 20));
  expect(referencesAmong(ids.slice(0, 21))).toEqual([ids[0], ...ids.slice(2, 21)]);
  expect(referencesAmong(ids)).toEqual([ids[0], ...ids.slice(6)]);
});

test('refers to nothing that would break a header', () => {
  const valid = `<${'a'.repeat(898)}>`;
  const invalid = ['<a b@c>', '<a\r\nb@c>', 'a@b', '<a@b> <c@d>', '<ä@b>', '<>', `<${'a'.repeat(899)}>`, ''];
  expect(referencesAmong([...invalid, valid])).toEqual([valid]);
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
    bcc: ['c@x.example', 'none'],
  };
  const mail = { ...lists, reached: ['b@x.example'] } as unknown as OutgoingMail;
  expect(recipientsLeft(mail)).toEqual({
    addresses: ['a@x.example', 'A@x.example', 'c@x.example'],
    invalid: ['none'],
  });
});
