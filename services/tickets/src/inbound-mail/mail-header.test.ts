import { expect, it } from 'vitest';
import { decodeHeader, decodeWords, readParameters } from './mail-header.ts';

const word = (charset: string, bytes: string) => `=?${charset}?B?${Buffer.from(bytes, 'latin1').toString('base64')}?=`;
const utf8 = (text: string) => Buffer.from(text).toString('latin1');

it.each([
  ['=?utf-8?Q?Gr=C3=B6=C3=9Fe_1?=', 'Größe 1'],
  ['=?ISO-8859-1?q?Gr=F6=DFe?= und =?utf-8?b?TMOkbmdl?=', 'Größe und Länge'],
  ['=?utf-8?Q?Gr=C3=B6?= =?utf-8?Q?=C3=9Fe?=', 'Größe'],
  ['=?utf-8?Q?Gr=C3?=\t=?utf-8?Q?=B6=C3=9Fe?=', 'Größe'],
  [`${word('utf-8', utf8('Grö').slice(0, 3))} ${word('UTF-8', utf8('ö').slice(1) + utf8('ße'))}`, 'Größe'],
  ['=?utf-8?B?R3LDtg?= =?utf-8?B?w59l?=', 'Größe'],
  ['=?utf-8?B?R3LDtsOfZQ?=', 'Größe'],
  ['=?utf-8*de?Q?Gr=C3=B6=C3=9Fe?=', 'Größe'],
  ['=?utf-8?Q?Gr=F6=DFe?=', 'Größe'],
  ['=?iso-8859-1?Q?Gr=C3=B6=C3=9Fe?=', 'Größe'],
  ['=?x-unknown?Q?Gr=F6=DFe?=', 'Größe'],
  ['=?cp850?Q?Gr=94=E1e?=', 'Größe'],
  ['=?iso-2022-jp?B?GyRCOCtANRsoQg==?=', '見正'],
  ['=?gb2312?B?sai82w==?=', '报价'],
  ['a =?utf-8?Q?b?= c', 'a b c'],
  ['=?utf-8?Q?a b?=', 'a b'],
  ['=?utf-8?X?a?= =?utf-8?Q?a', '=?utf-8?X?a?= =?utf-8?Q?a'],
  ['no =?= words ?=', 'no =?= words ?='],
])('%s is decoded as %s', (text, expected) => {
  expect(decodeWords(text)).toBe(expected);
});

it('reads a header in one line, whatever its bytes are', () => {
  expect(decodeHeader('Subject: a\r\n b\n\tc\r\n')).toEqual({ key: 'subject', value: 'a b\tc' });
  expect(decodeHeader(utf8('Subject: Größe'))).toEqual({ key: 'subject', value: 'Größe' });
  expect(decodeHeader('SUBJECT :Gr\xf6\xdfe')).toEqual({ key: 'subject', value: 'Größe' });
  expect(decodeHeader('Subject: \x1b$B8+@5\x1b(B')).toEqual({ key: 'subject', value: '見正' });
  expect(decodeHeader('no colon')).toEqual({ key: 'no colon', value: '' });
});

it.each([
  ['attachment; filename="a b.pdf"', 'a b.pdf'],
  ['attachment; filename=a.pdf (comment)', 'a.pdf'],
  ['attachment; filename="=?utf-8?Q?Gr=C3=B6=C3=9Fe.pdf?="', 'Größe.pdf'],
  ["attachment; filename*=utf-8''Gr%C3%B6%C3%9Fe.pdf", 'Größe.pdf'],
  ["attachment; filename*=iso-8859-1'de'Gr%F6%DFe.pdf", 'Größe.pdf'],
  ["attachment; filename*=utf-8''Gr%F6%DFe.pdf", 'Größe.pdf'],
  ["attachment; filename*=cp850''Gr%94%E1e.pdf", 'Größe.pdf'],
  ["attachment; filename*0*=utf-8''Gr%C3%B6; filename*1*=%C3%9Fe; filename*2=.pdf", 'Größe.pdf'],
  ['attachment; filename="=?utf-8?Q?Gr=F6=DFe.pdf?="', 'Größe.pdf'],
  ['attachment; filename=Größe.pdf', 'Größe.pdf'],
  ['attachment', undefined],
])('the name of a file in %s is %s', (header, expected) => {
  expect(readParameters(header).parameters.filename).toBe(expected);
});
