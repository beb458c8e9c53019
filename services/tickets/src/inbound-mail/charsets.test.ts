import iconv from 'iconv-lite';
import { describe, expect, it } from 'vitest';
import { declaredInHtml, decodeText } from './charsets.ts';

/** The bytes of ISO-2022-JP, which iconv-lite does not write. */
const shifted = (text: string) =>
  Buffer.concat([
    Buffer.from('\x1b$B'),
    iconv.encode(text, 'euc-jp').map((byte) => byte & 0x7f),
    Buffer.from('\x1b(B'),
  ]);
const encode = (text: string, encoding: string) =>
  encoding === 'iso-2022-jp' ? shifted(text) : iconv.encode(text, encoding);

const german = 'Größe und Länge der Straße';
const japanese = 'ご依頼の見積書をお送りください';
const chinese = '请尽快寄送报价单给我们公司，谢谢';
const korean = '안녕하세요 견적서를 보내 주세요';
const russian = 'Здравствуйте, пришлите счёт, пожалуйста';

const polish = 'Zażółć gęślą jaźń, łódź';

describe('a text is decoded', () => {
  it.each([
    ['utf-8', german, 'utf-8'],
    ['UTF8', german, 'utf-8'],
    ['iso-8859-1', german, 'windows-1252'],
    ['ISO_8859-15', `5 € ${german}`, 'iso-8859-15'],
    ['windows-1252', `„5 €“ ${german}`, 'windows-1252'],
    ['cp850', german, 'cp850'],
    ['IBM437', german, 'cp437'],
    ['x-cp1250', 'Dźwięk', 'windows-1250'],
    ['macintosh', german, 'macintosh'],
    ['utf-7', german, 'utf-7'],
    ['unicode-1-1-utf-7', german, 'utf-7'],
    ['x-unicode-2-0-utf-7', german, 'utf-7'],
    ['utf-16', german, 'utf-16le'],
    ['utf-16be', german, 'utf-16be'],
    ['iso-2022-jp', japanese, 'iso-2022-jp'],
    ['cp50221', japanese, 'iso-2022-jp'],
    ['Shift_JIS', japanese, 'shift_jis'],
    ['x-sjis', japanese, 'shift_jis'],
    ['windows-31j', japanese, 'shift_jis'],
    ['gb2312', chinese, 'gbk'],
    ['x-gbk', chinese, 'gbk'],
    ['big5', '請盡快寄送報價單', 'big5'],
    ['ks_c_5601-1987', korean, 'euc-kr'],
    ['koi8-r', russian, 'koi8-r'],
    [' "UTF-8" ', german, 'utf-8'],
  ])('as %s', (declared, text, encoding) => {
    expect(decodeText(encode(text, encoding), declared)).toBe(text);
  });

  it.each([
    [undefined, german, 'utf-8'],
    [undefined, german, 'windows-1252'],
    [undefined, 'Größe', 'windows-1252'],
    [undefined, japanese, 'iso-2022-jp'],
    [undefined, japanese, 'shift_jis'],
    [undefined, chinese, 'gbk'],
    [undefined, korean, 'euc-kr'],
    [undefined, russian, 'windows-1251'],
    [undefined, russian, 'koi8-r'],
    [undefined, german, 'utf-16le'],
    [undefined, german, 'utf-16be'],
    ['', german, 'utf-8'],
    ['x-unknown', german, 'windows-1252'],
    ['base64', german, 'utf-8'],
    ['__proto__', german, 'utf-8'],
    ['utf-8', 'Größe', 'windows-1252'],
    ['utf-8', german, 'windows-1252'],
    ['utf-8', chinese, 'gbk'],
    ['utf-8', russian, 'windows-1251'],
    ['utf-8', japanese, 'shift_jis'],
    ['utf-8', german, 'utf-16le'],
    ['us-ascii', german, 'utf-8'],
    ['us-ascii', german, 'windows-1252'],
    ['us-ascii', japanese, 'iso-2022-jp'],
    ['us-ascii', russian, 'windows-1251'],
    ['unknown-8bit', russian, 'koi8-r'],
    ['8bit', japanese, 'shift_jis'],
    ['windows-1250', polish, 'utf-8'],
    ['iso-8859-2', polish, 'utf-8'],
    ['windows-1251', russian, 'utf-8'],
    ['koi8-r', russian, 'utf-8'],
    ['iso-8859-1', german, 'utf-8'],
    ['iso-2022-jp', japanese, 'shift_jis'],
    ['iso-2022-jp', japanese, 'utf-8'],
    ['shift_jis', japanese, 'utf-8'],
    ['gb2312', chinese, 'utf-8'],
    ['euc-kr', german, 'windows-1252'],
  ])('declared as %s wrongly: %s in %s', (declared, text, encoding) => {
    expect(decodeText(encode(text, encoding), declared)).toBe(text);
  });

  it('by its mark, whatever is declared', () => {
    for (const [mark, encoding] of [
      ['\xef\xbb\xbf', 'utf-8'],
      ['\xff\xfe', 'utf-16le'],
      ['\xfe\xff', 'utf-16be'],
    ] as const) {
      const bytes = Buffer.concat([Buffer.from(mark, 'latin1'), iconv.encode(german, encoding)]);
      expect(decodeText(bytes, 'iso-8859-1')).toBe(german);
    }
  });

  it('by a second declaration, if the first one is none', () => {
    expect(decodeText(iconv.encode('Dźwięk', 'windows-1250'), undefined, 'windows-1250')).toBe('Dźwięk');
    expect(decodeText(iconv.encode('Dźwięk', 'windows-1250'), 'utf-8', 'windows-1250')).toBe('Dźwięk');
    expect(decodeText(iconv.encode('Dźwięk', 'windows-1250'), 'windows-1250', 'windows-1252')).toBe('Dźwięk');
  });

  it('whatever its bytes are', () => {
    const all = Buffer.from(Array.from({ length: 256 }, (_, byte) => byte));
    for (const declared of [undefined, 'utf-8', 'gb18030', 'shift_jis', 'euc-kr', 'big5', 'iso-2022-jp', 'utf-7']) {
      expect(decodeText(all, declared)).toContain('abc');
      expect(decodeText(Buffer.of(), declared)).toBe('');
    }
    expect(decodeText(Buffer.from('Gr\xc3\xb6\xc3', 'latin1'), 'utf-8')).toMatch(/^Gr/);
  });
});

it.each([
  ['<html><head><meta charset="koi8-r">', 'koi8-r'],
  ['<META HTTP-EQUIV="Content-Type" CONTENT="text/html; charset=windows-1251">', 'windows-1251'],
  ["<meta charset = 'utf-8' />", 'utf-8'],
  ['<?xml version="1.0" encoding="iso-8859-2"?><html>', 'iso-8859-2'],
  ['<p>charset=utf-8</p>', undefined],
  [`${' '.repeat(5_000)}<meta charset=utf-8>`, undefined],
])('the encoding that %s declares is %s', (html, expected) => {
  expect(declaredInHtml(Buffer.from(html))).toBe(expected);
});
