import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { cleanBody, plainBody } from './body-text.ts';

const MEBIBYTE = 1_048_576;

describe('plainBody', () => {
  it.each([
    ['', ''],
    ['a < b and c > d', 'a < b and c > d'],
    ['Max <max@example.com>\n<https://example.com/?a=b>', 'Max <max@example.com>\n<https://example.com/?a=b>'],
    ['1 &lt; 2 &amp; 3', '1 &lt; 2 &amp; 3'],
    ['name   price\n  apple  3', 'name   price\n  apple  3'],
    ['one\r\ntwo\rthree\u2028four', 'one\ntwo\nthree\nfour'],
    ['\n\n a \t \n\n\n\nb\n\n', ' a\n\nb'],
    ['a\0b\u0007c\u200bd\u00ade\ufeff', 'abcde'],
    ['👩‍👩‍👧 grüßt', '👩‍👩‍👧 grüßt'],
  ])('keeps the text of %j', (body, text) => {
    expect(plainBody(body)).toBe(text);
  });

  it.each([
    ['<p>Hello&nbsp;&amp; goodbye</p><p>a &lt; b</p>', 'Hello & goodbye\n\na < b'],
    ['one<br>two<br/>three<div>four</div><div>five</div>', 'one\ntwo\nthree\nfour\nfive'],
    ['<p>a\n  b\t c</p>', 'a b c'],
    ['<h1>Title</h1>text', 'Title\n\ntext'],
    ['<ul><li>a</li><li>b</li></ul><ol><li><p>c</p></li></ol>', '- a\n- b\n\n- c'],
    ['<pre>a\n  b</pre>', 'a\n  b'],
    ['See <a href="https://track.example/click?u=1234">your order</a>.', 'See your order.'],
    ['<p>x<img src="https://a.b/c.png" alt="logo">y</p>', 'xy'],
    ['<style>p{}</style><p>x</p><script>alert("<p>y</p>")</script><title>t</title>', 'x'],
    ['<head><title>t</title><style>p{}</style></head><body>x</body>', 'x'],
    ['<p>x<!-- <p>y</p> --></p><!--[if mso]><p>z</p><![endif]-->', 'x'],
    ['<div style="display:none">preview</div><p>x</p>', 'x'],
    ['<p>Max <max@example.com>, 1 < 2</p>', 'Max <max@example.com>, 1 < 2'],
    ['before<body>inside</body>after', 'beforeinsideafter'],
    ['<p>unclosed <b>bold', 'unclosed bold'],
    [
      '<table><tr><th>Article</th><th>Price</th></tr><tr><td>Apple</td><td>3 €</td></tr></table>',
      'Article | Price\nApple | 3 €',
    ],
    ['<table><tr><td><table><tr><td><p>Hi</p></td></tr></table></td></tr></table>', 'Hi'],
    ['<p>a\0b</p>', 'ab'],
  ])('reads %j', (body, text) => {
    expect(plainBody(body)).toBe(text);
  });

  // spec: 6.34
  it('keeps the text of elements that are nested too deep', () => {
    expect(plainBody(`${'<div>'.repeat(5_000)}x${'</div>'.repeat(5_000)}`)).toBe('x');
  });

  it('reads 1 MiB of HTML without its inline images, and 5 MiB of text', () => {
    const image = `<img src="data:image/png;base64,${'A'.repeat(4 * MEBIBYTE)}">`;
    expect(plainBody(`<p>a</p>${image}<p>b</p>`)).toBe('a\n\nb');
    expect(plainBody(`<p>${'a'.repeat(2 * MEBIBYTE)}`)).toBe('a'.repeat(MEBIBYTE - '<p>'.length));
    expect(plainBody('a'.repeat(5 * MEBIBYTE))).toHaveLength(5 * MEBIBYTE);
  });
});

const MAILS: readonly [name: string, body: string, clean: string][] = [
  [
    'English, Gmail, wrapped heading',
    'Hello,\n\nwhere is my parcel 123?\n\nBest regards,\nJane Doe\n+44 20 1234\n\nOn Tue, Mar 12, 2024 at 10:15 AM Example Shop <\nservice@example.com> wrote:\n\n> Dear Jane,\n>\n> it is on its way.\n',
    'Hello,\n\nwhere is my parcel 123?',
  ],
  [
    'English, Outlook, plain',
    'Please cancel.\n\nKind regards\nJohn\n\n________________________________\nFrom: Shop <s@example.com>\nSent: Tuesday, March 12, 2024 10:15 AM\nTo: John\nSubject: Order\n\nold text',
    'Please cancel.',
  ],
  ['English, original message', 'It works now.\n\n-----Original Message-----\nFrom: x\n\nold', 'It works now.'],
  [
    'English, iPhone',
    'It is broken.\n\nSent from my iPhone\n\n> On 12 Mar 2024, at 10:15, Shop <s@e.com> wrote:\n> \n> old',
    'It is broken.',
  ],
  ['English, Outlook for iOS', 'Thanks!\n\nGet Outlook for iOS<https://aka.ms/o0ukef>\n', 'Thanks!'],
  [
    'English, reply below the quote',
    'On Mon, 4 Mar 2024 at 09:00, Shop <s@e.com> wrote:\n> Which size?\n\nSize 42.\n\n-- \nJane',
    'Size 42.',
  ],
  ['English, replies between the quotes', '> Which size?\n42\n> Which colour?\nBlue\n', '42\nBlue'],
  [
    'English, disclaimer and postscript',
    'See attachment.\n\nRegards,\nJane\n\nPS: The number is 4711.',
    'See attachment.\n\nPS: The number is 4711.',
  ],
  [
    'English, disclaimer',
    'See attachment.\n\nThis e-mail and any files transmitted with it are confidential and intended solely for the addressee.',
    'See attachment.',
  ],
  [
    'English, forwarded',
    'Please check.\n\n---------- Forwarded message ---------\nFrom: A <a@e.com>\nDate: Tue, Mar 12\nSubject: Order\nTo: B\n\nMy order is late.',
    'Please check.\n\n---------- Forwarded message ---------\nFrom: A <a@e.com>\nDate: Tue, Mar 12\nSubject: Order\nTo: B\n\nMy order is late.',
  ],
  [
    'German, Thunderbird',
    'Guten Tag,\n\nmeine Bestellung fehlt.\n\nMit freundlichen Grüßen\nMax Mustermann\n\nAm 12.03.2024 um 10:15 schrieb Beispiel Shop:\n> Hallo,\n> Ihr Paket ist unterwegs.',
    'Guten Tag,\n\nmeine Bestellung fehlt.',
  ],
  [
    'German, Gmail',
    'Ja, bitte stornieren.\n\nViele Grüße aus Berlin\n\nMax <max@example.com> schrieb am Di., 12. März 2024, 10:15:\n\n> alt',
    'Ja, bitte stornieren.',
  ],
  [
    'German, Outlook, plain',
    'Bitte um Rückruf.\n\nVon: Shop <s@example.de>\nGesendet: Dienstag, 12. März 2024 10:15\nAn: Max\nBetreff: Bestellung\n\nalter Text',
    'Bitte um Rückruf.',
  ],
  [
    'German, GMX',
    'Danke.\n\nGesendet: Dienstag, 12. März 2024 um 10:15 Uhr\nVon: Shop <s@e.de>\nAn: max@e.de\nBetreff: Re\n\nalt',
    'Danke.',
  ],
  ['German, iPhone', 'Wo bleibt es?\n\nVon meinem iPhone gesendet', 'Wo bleibt es?'],
  ['German, original message', 'Neu.\n\n-----Ursprüngliche Nachricht-----\nVon: x', 'Neu.'],
  [
    'German, Yahoo',
    'Neu.\n\nAm Dienstag, 12. März 2024 um 10:15:00 MEZ hat Shop <s@e.de> Folgendes geschrieben:\n\nalter Text',
    'Neu.',
  ],
  [
    'German, no heading',
    'Hallo,\nAm 12. März um 10:15 schrieb ich Ihnen:\n\nBitte stornieren.',
    'Hallo,\nAm 12. März um 10:15 schrieb ich Ihnen:\n\nBitte stornieren.',
  ],
  [
    'German, no signature',
    'Liebe Grüße sollten auf die Karte.\nGeht das?',
    'Liebe Grüße sollten auf die Karte.\nGeht das?',
  ],
  [
    'French, Gmail',
    'Bonjour,\n\noù est mon colis ?\n\nCordialement,\nJean Dupont\n\nLe mar. 12 mars 2024 à 10:15, Boutique <s@example.fr> a écrit\u202f:\n\n> ancien',
    'Bonjour,\n\noù est mon colis ?',
  ],
  [
    'French, Outlook, plain',
    'Merci de rappeler.\n\nDe : Boutique <s@example.fr>\nEnvoyé : mardi 12 mars 2024 10:15\nÀ : Jean\nObjet : Commande\n\nancien',
    'Merci de rappeler.',
  ],
  ['French, iPhone', 'Il manque une pièce.\n\nEnvoyé de mon iPhone', 'Il manque une pièce.'],
  ['French, original message', 'Nouveau.\n\n-----Message d’origine-----\nDe : x', 'Nouveau.'],
  ['French, no device', 'Envoyé de Paris hier.\nMerci', 'Envoyé de Paris hier.\nMerci'],
  [
    'Spanish, Gmail',
    'Hola,\n\n¿dónde está mi pedido?\n\nUn saludo,\nJuan Pérez\n\nEl mar, 12 mar 2024 a las 10:15, Tienda (<s@example.es>) escribió:\n\n> viejo',
    'Hola,\n\n¿dónde está mi pedido?',
  ],
  [
    'Spanish, Outlook, plain',
    'Quiero devolverlo.\n\nDe: Tienda <s@example.es>\nEnviado el: martes, 12 de marzo de 2024 10:15\nPara: Juan\nAsunto: Pedido\n\nviejo',
    'Quiero devolverlo.',
  ],
  ['Spanish, iPhone', 'Está roto.\n\nEnviado desde mi iPhone', 'Está roto.'],
  [
    'Portuguese, Gmail',
    'Olá,\n\nonde está a minha encomenda?\n\nAtenciosamente,\nJoão Silva\n\nEm ter., 12 de mar. de 2024 às 10:15, Loja <s@example.pt> escreveu:\n\n> velho',
    'Olá,\n\nonde está a minha encomenda?',
  ],
  [
    'Portuguese, Outlook, plain',
    'Quero devolver.\n\nDe: Loja <s@example.pt>\nEnviada em: terça-feira, 12 de março de 2024 10:15\nPara: João\nAssunto: Pedido\n\nvelho',
    'Quero devolver.',
  ],
  [
    'Portuguese, iPhone',
    'Está partido.\n\nCom os melhores cumprimentos,\nJoão\n\nEnviado do meu iPhone',
    'Está partido.',
  ],
  [
    'HTML, Gmail',
    '<div dir="ltr"><div>New text</div><div><br></div>-- <br><div dir="ltr" class="gmail_signature" data-smartmail="gmail_signature">Jane<br>CEO</div></div><br><div class="gmail_quote"><div dir="ltr" class="gmail_attr">On Tue, Mar 12, 2024 at 10:15 AM Shop &lt;<a href="mailto:s@e.com">s@e.com</a>&gt; wrote:<br></div><blockquote class="gmail_quote" style="margin:0"><div>old</div></blockquote></div>',
    'New text',
  ],
  [
    'HTML, Gmail, reply below the quote',
    '<div class="gmail_quote"><div class="gmail_attr">On Tue wrote:</div><blockquote class="gmail_quote">old</blockquote></div><div>Below</div>',
    'Below',
  ],
  [
    'HTML, Outlook desktop',
    `<html xmlns:o="urn:x"><head><style>p{}</style></head><body lang=DE><div class=WordSection1><p class=MsoNormal>Neuer Text<o:p></o:p></p><p class=MsoNormal><o:p>&nbsp;</o:p></p><div><div style='border:none;border-top:solid #E1E1E1 1.0pt;padding:3.0pt 0cm 0cm 0cm'><p class=MsoNormal><b>Von:</b> Shop &lt;s@e.de&gt;<br><b>Gesendet:</b> Dienstag<br></p></div></div><p class=MsoNormal>alter Text</p></div></body></html>`,
    'Neuer Text',
  ],
  [
    'HTML, Outlook on the web',
    '<div>New text</div><div id="Signature"><p>Jane</p></div><div id="appendonsend"></div><hr style="width:98%"><div id="divRplyFwdMsg" dir="ltr"><b>From:</b> Shop<br><b>Sent:</b> Tuesday</div><div>old</div>',
    'New text',
  ],
  [
    'HTML, Thunderbird',
    '<div>Antwort oben</div><div class="moz-cite-prefix">Am 12.03.24 um 10:15 schrieb Shop:<br></div><blockquote type="cite" cite="mid:x"><p>alt</p></blockquote><p>Antwort unten</p><pre class="moz-signature" cols="72">-- \nMax</pre>',
    'Antwort oben\n\nAntwort unten',
  ],
  [
    'HTML, Apple Mail',
    '<body>New text<br><div><br><blockquote type="cite"><div>On 12. Mar 2024, at 10:15, Shop &lt;s@e.com&gt; wrote:</div><div>old</div></blockquote></div></body>',
    'New text',
  ],
  [
    'HTML, iPhone',
    '<div dir="ltr">Neu</div><div dir="ltr"><br>Von meinem iPhone gesendet</div><div dir="ltr"><br><blockquote type="cite">Am 12.03.2024 um 10:15 schrieb Shop &lt;s@e.de&gt;:<br></blockquote></div><blockquote type="cite"><div>alt</div></blockquote>',
    'Neu',
  ],
  [
    'HTML, Yahoo',
    '<div>New</div><div id="ydp1yahoo_quoted_1" class="ydp1yahoo_quoted"><div>On Tuesday, Shop wrote:</div><div>old</div></div>',
    'New',
  ],
];

describe('cleanBody', () => {
  it.each(MAILS)('%s', (_name, body, clean) => {
    expect(cleanBody(body)).toBe(clean);
    expect(cleanBody(body.replaceAll('\n', '\r\n'))).toBe(clean);
  });

  it.each([
    ['Mit freundlichen Grüßen\nMax', 'Mit freundlichen Grüßen\nMax'],
    ['> only\n> a quote', '> only\n> a quote'],
    ['<blockquote type="cite">only a quote</blockquote>', 'only a quote'],
    ['Von: A\nGesendet: heute\nBetreff: B\n\nText', 'Von: A\nGesendet: heute\nBetreff: B\n\nText'],
    ['  \n', ''],
    ['', ''],
  ])('returns the whole text of %j, because cleaning would leave nothing', (body, clean) => {
    expect(cleanBody(body)).toBe(clean);
  });

  it('keeps what follows a separator when it is too long for a signature', () => {
    const body = `Part one\n--\n${'a line of part two\n'.repeat(30)}`.trim();
    expect(cleanBody(body)).toBe(body);
  });

  it('returns at most 262,144 characters', () => {
    expect(cleanBody('a'.repeat(5 * MEBIBYTE))).toHaveLength(262_144);
    expect(cleanBody('>'.repeat(5 * MEBIBYTE))).toHaveLength(262_144);
  });

  // spec: 6.35
  it('returns trimmed text for any input, and some text for every body with text', () => {
    const piece = fc.oneof(
      fc.string(),
      fc.constantFrom(
        '\n',
        '> ',
        '-- ',
        '--\n',
        'On 1:11 a wrote:',
        'Von: a\n',
        'Gesendet: 1\n',
        'An: b\n',
        '\uE0F0',
        '\0',
      ),
      fc.constantFrom(
        '<p>',
        '</p>',
        '<br>',
        '<blockquote type="cite">',
        '</blockquote>',
        '<td>',
        '<li>',
        '&nbsp;',
        '&#xE0F0;',
      ),
      fc.constantFrom('LG\n', 'Regards,\n', 'Sent from my iPhone\n', 'PS: x\n', 'From: x\n'),
    );
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 15 }), (pieces) => {
        const body = pieces.join('');
        const clean = cleanBody(body);
        expect(clean).toBe(clean.trim());
        expect(clean === '').toBe(plainBody(body).trim() === '');
      }),
      { numRuns: 500 },
    );
  });
});
