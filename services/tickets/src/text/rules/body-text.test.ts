import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { cleanBody, mailText, plainBody } from './body-text.ts';

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
  ['French, no device', 'Envoyé de Paris hier.\nMerci', 'Envoyé de Paris hier.'],
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

/** Lines that mail programs add. */
const DEVICE_LINES = [
  'Sent from my iPhone',
  'Sent from my Galaxy',
  'Sent from Galaxy',
  'Sent from BlackBerry',
  'Sent from my BlackBerry® wireless device.',
  'Sent from my mobile phone, please excuse typos',
  'sent from my iphone',
  'Sent from my T-Mobile 4G LTE Device',
  'Sent from Mail<https://go.microsoft.com/fwlink/?LinkId=550123> for Windows 10',
  'Sent from Mail for Windows',
  'Sent from Gmail Mobile',
  'Sent from Yahoo Mail for iPhone<https://overview.mail.yahoo.com/?.src=iOS>',
  'Yahoo Mail: Search, Organize, Conquer<https://mail.onelink.me/1?pid=x>',
  'Sent with [Proton Mail](https://proton.me/) secure email.',
  'Sent from my Android device with K-9 Mail. Please excuse my brevity.',
  'Get Outlook for Android<https://aka.ms/AAb9ysg>',
  'Von meinem iPhone gesendet',
  'Von meinem Samsung Galaxy Smartphone gesendet.',
  'Von meinem/meiner Galaxy gesendet',
  'Von Samsung Mobile gesendet',
  'Von unterwegs gesendet',
  'Von Proton Mail für Android gesendet',
  'Gesendet von Mail<https://go.microsoft.com/fwlink/?LinkId=550986> für Windows 10',
  'Gesendet von Outlook für iOS<https://aka.ms/o0ukef>',
  'Gesendet von Yahoo Mail auf Android',
  'Gesendet mit Proton Mail sichere E-Mail.',
  'Gesendet mit der GMX Mail App',
  'Gesendet mit der WEB.DE Mail App',
  'Diese Nachricht wurde von meinem Android Mobiltelefon mit WEB.DE Mail gesendet.',
  'Diese Nachricht wurde von meinem Android-Gerät mit K-9 Mail gesendet.',
  'Holen Sie sich Outlook für Android<https://aka.ms/AAb9ysg>',
  'Outlook für iOS herunterladen',
  'Envoyé de mon iPhone',
  'Envoyé depuis mon smartphone Samsung Galaxy.',
  'Envoyé depuis mon appareil Galaxy',
  'Envoyé à partir d’Outlook pour Android<https://aka.ms/AAb9ysg>',
  'Envoyé à partir de Courrier<https://go.microsoft.com/fwlink/?LinkId=550986> pour Windows 10',
  'Provenance : Courrier pour Windows 10',
  'Envoyé depuis Yahoo Mail pour iPhone',
  'Envoyé avec la messagerie sécurisée Proton Mail.',
  'Télécharger Outlook pour Android',
  'Enviado desde mi iPhone',
  'Enviado desde mi smartphone Samsung Galaxy.',
  'Enviado desde mi móvil',
  'Enviado desde Correo para Windows 10',
  'Enviado desde Yahoo Mail para iPhone',
  'Enviado con el correo electrónico seguro de Proton Mail.',
  'Obtener Outlook para Android',
  'Enviado do meu iPhone',
  'Enviado do meu smartphone Samsung Galaxy.',
  'Enviado a partir do meu telemóvel',
  'Enviado do Correio para Windows 10',
  'Enviado do Yahoo Mail no Android',
  'Obter o Outlook para Android',
  'Inviato da iPhone',
  'Inviato dal mio smartphone Samsung Galaxy.',
  'Inviato dall’app Outlook per iOS',
  'Inviato da Posta per Windows 10',
  'Inviato da Yahoo Mail su Android',
  'Scarica Outlook per Android',
  'Verstuurd vanaf mijn iPhone',
  'Verzonden vanaf mijn Galaxy',
  'Verzonden vanuit Mail voor Windows 10',
  'Outlook voor Android downloaden',
  'Sendt fra min iPhone',
  'Sendt fra Mail til Windows 10',
  'Sendt fra min Samsung Galaxy-smarttelefon.',
  'Hent Outlook til Android',
  'Få Outlook for Android',
  'Skickat från min iPhone',
  'Skickades från E-post för Windows 10',
  'Hämta Outlook för Android',
  'Lähetetty iPhonesta',
  'Wysłane z iPhone’a',
  'Wysłane z mojego smartfona Samsung Galaxy.',
  'Wysłane z aplikacji Outlook dla systemu Android',
  'Pobierz aplikację Outlook dla systemu Android',
  'Odesláno z mého iPhonu',
  'Odesláno z aplikace Outlook pro Android',
  'Odoslané z iPhonu',
  'Отправлено с iPhone',
  'Отправлено с моего телефона',
  'Надіслано з iPhone',
  'Изпратено от моя iPhone',
  'Στάλθηκε από το iPhone μου',
  'Az iPhone-omról küldve',
  'Trimis de pe iPhone-ul meu',
  'Lähetetty iPhonesta',
  'Saadetud minu iPhone’ist',
  'Išsiųsta iš mano iPhone',
  'Nosūtīts no mana iPhone',
  'Poslano z mojega iPhona',
  'Poslano s mog iPhone uređaja',
  'iPhone’umdan gönderildi',
  'Enviat des del meu iPhone',
];

const CLOSINGS = [
  'Best regards',
  'Kind regards, Jane',
  'Many thanks and best regards',
  'Yours sincerely',
  'Thanks in advance!',
  'Cheers,',
  'Mit freundlichen Grüßen',
  'Mit freundlichen Gruessen',
  'Mit freundlichen Grüßen / Kind regards',
  'Mit besten Grüßen aus Berlin',
  'Viele liebe Grüße :-)',
  'Freundlicher Gruß',
  'Herzlichst',
  'Gruß',
  'Gruß Max',
  'Grüße',
  'Vielen Dank im Voraus und viele Grüße',
  'Besten Dank',
  'Einen schönen Tag noch!',
  'Cordialement',
  'Cdlt',
  'Bien à vous,',
  'Salutations',
  'Salutations distinguées',
  'Je vous prie d’agréer, Madame, Monsieur, l’expression de mes salutations distinguées.',
  'Merci d’avance.',
  'Bonne journée',
  'Un saludo',
  'Saludos cordiales,',
  'Reciba un cordial saludo',
  'Atentamente',
  'Gracias',
  'Muchas gracias de antemano',
  'Com os melhores cumprimentos,',
  'Atenciosamente',
  'Att,',
  'Obrigada',
  'Cordiali saluti',
  'Distinti saluti,',
  'Porgo distinti saluti',
  'Saluti',
  'Grazie mille',
  'Buona giornata',
  'Met vriendelijke groet,',
  'Met vriendelijke groeten',
  'Hoogachtend',
  'Groetjes',
  'Alvast bedankt',
  'Med venlig hilsen',
  'De bedste hilsner',
  'Mvh',
  'På forhånd tak',
  'Med vennlig hilsen',
  'Takk',
  'Med vänliga hälsningar',
  'Vänliga hälsningar',
  'Hälsningar',
  'Tack på förhand',
  'Z poważaniem',
  'Pozdrawiam',
  'Z góry dziękuję',
  'S pozdravem',
  'S přátelským pozdravem',
  'Děkuji',
  'С уважением,',
  'С наилучшими пожеланиями',
  'З повагою,',
  'С уважение,',
  'Με εκτίμηση,',
  'Με φιλικούς χαιρετισμούς',
  'Üdvözlettel:',
  'Tisztelettel,',
  'Cu stimă,',
  'Cu respect',
  'Ystävällisin terveisin',
  'Lugupidamisega',
  'Parimate tervitustega',
  'Pagarbiai',
  'Ar cieņu,',
  'Lep pozdrav',
  'S spoštovanjem',
  'Srdačan pozdrav',
  'S poštovanjem,',
  'Sa štovanjem',
  'Saygılarımla,',
  'İyi çalışmalar dilerim',
  'Salutacions cordials',
  'S úctou',
];

/** Separators, and the fields of replies in Outlook. */
const SEPARATORS = [
  '-----Original Message-----',
  '--- Original-Nachricht ---',
  '-------- Ursprüngliche Nachricht --------',
  "-----Message d'origine-----",
  '-------- Message original --------',
  '-----Mensaje original-----',
  '---------- Mensagem original ----------',
  '-----Messaggio originale-----',
  '-----Oorspronkelijk bericht-----',
  '-----Oprindelig meddelelse-----',
  '-----Opprinnelig melding-----',
  '-----Ursprungligt meddelande-----',
  '-----Alkuperäinen viesti-----',
  '-----Oryginalna wiadomość-----',
  '-----Původní zpráva-----',
  '-------- Pôvodná správa --- Original Message --------',
  '-----Eredeti üzenet-----',
  '-----Mesaj original-----',
  '-----Оригинално съобщение-----',
  '-----Αρχικό μήνυμα-----',
  '-----Izvorna poruka-----',
  '-----Izvirno sporočilo-----',
  '-----Algne sõnum-----',
  '-----Sākotnējais ziņojums-----',
  '-----Pradinis pranešimas-----',
  '-----Özgün İleti-----',
  '-----Вихідне повідомлення-----',
  '-----Исходное сообщение-----',
  'From: Shop\nSent: Tuesday, March 12, 2024 10:15 AM\nTo: Kim\nSubject: Order',
  '*From:* Shop\n*Date:* 12 March 2024\n*To:* Kim\n*Subject:* Order',
  'Von: Shop\nGesendet: Dienstag, 12. März 2024 10:15\nAn: Kim\nCc: Lee\nBetreff: Auftrag',
  'Von: Shop\n\nGesendet: Dienstag, 12. März 2024 10:15\n\nAn: Kim\n\nBetreff: Auftrag',
  'Von: Shop <s@e.de>\nDatum: 12. März 2024 um 10:15:00 MEZ\nAn: Kim',
  'De : Boutique\nEnvoyé : mardi 12 mars 2024 10:15\nÀ : Kim\nObjet : Commande',
  'De: Tienda\nEnviado el: martes, 12 de marzo de 2024 10:15\nPara: Kim\nAsunto: Pedido',
  'De: Loja\nEnviada em: terça-feira, 12 de março de 2024 10:15\nPara: Kim\nAssunto: Pedido',
  'Da: Negozio\nInviato: martedì 12 marzo 2024 10:15\nA: Kim\nOggetto: Ordine',
  'Van: Winkel\nVerzonden: dinsdag 12 maart 2024 10:15\nAan: Kim\nOnderwerp: Bestelling',
  'Fra: Butik\nSendt: 12. marts 2024 10:15\nTil: Kim\nEmne: Ordre',
  'Fra: Butikk\nSendt: tirsdag 12. mars 2024 10:15\nTil: Kim\nKopi: Lee\nEmne: Ordre',
  'Från: Butik\nSkickat: den 12 mars 2024 10:15\nTill: Kim\nÄmne: Order',
  'Lähettäjä: Kauppa\nLähetetty: tiistai 12. maaliskuuta 2024 10.15\nVastaanottaja: Kim\nAihe: Tilaus',
  'Od: Sklep\nWysłano: wtorek, 12 marca 2024 10:15\nDo: Kim\nTemat: Zamówienie',
  'Od: Obchod\nOdesláno: úterý 12. března 2024 10:15\nKomu: Kim\nPředmět: Objednávka',
  'Od: Obchod\nOdoslané: utorok 12. marca 2024 10:15\nKomu: Kim\nPredmet: Objednávka',
  'Feladó: Bolt\nElküldve: 2024. március 12., kedd 10:15\nCímzett: Kim\nTárgy: Rendelés',
  'De la: Magazin\nTrimis: marți, 12 martie 2024 10:15\nCătre: Kim\nSubiect: Comandă',
  'От: Магазин\nИзпратено: вторник, 12 март 2024 г. 10:15\nДо: Ким\nОтносно: Поръчка',
  'Από: Κατάστημα\nΣτάλθηκε: Τρίτη, 12 Μαρτίου 2024 10:15\nΠρος: Κιμ\nΘέμα: Παραγγελία',
  'Od: Trgovina\nPoslano: utorak, 12. ožujka 2024. 10:15\nZa: Kim\nPredmet: Narudžba',
  'Od: Trgovina\nPoslano: torek, 12. marec 2024 10:15\nZa: Kim\nZadeva: Naročilo',
  'Saatja: Pood\nSaadetud: teisipäev, 12. märts 2024 10:15\nAdressaat: Kim\nTeema: Tellimus',
  'No: Veikals\nNosūtīts: otrdiena, 2024. gada 12. marts 10:15\nKam: Kim\nTēma: Pasūtījums',
  'Nuo: Parduotuvė\nIšsiųsta: 2024 m. kovo 12 d. 10:15\nKam: Kim\nTema: Užsakymas',
  'Kimden: Mağaza\nGönderildi: 12 Mart 2024 Salı 10:15\nKime: Kim\nKonu: Sipariş',
  'Від: Магазин\nНадіслано: 12 березня 2024 р. 10:15\nКому: Кім\nТема: Замовлення',
  'От: Магазин\nОтправлено: 12 марта 2024 г. 10:15\nКому: Ким\nТема: Заказ',
];

const HEADINGS = [
  'On Tue, Mar 12, 2024 at 10:15 AM Shop <s@e.com> wrote:',
  'On Tue, Mar 12, 2024 at 10:15 AM A Shop With A Long Name <\nservice@example.com> wrote:',
  'Jane Doe wrote on 12 March 2024 10:15:',
  'Quoting Shop <s@e.com>:',
  'Am 12.03.24 um 10:15 schrieb Shop:',
  'Am Di., 12. März 2024 um 10:15 Uhr schrieb Shop <\ns@e.de>:',
  'Shop schrieb am 12.03.2024 um 10:15:',
  'Zitat von Shop <s@e.de>:',
  'Le mar. 12 mars 2024 à 10:15, Boutique <s@e.fr> a écrit :',
  'El mar, 12 mar 2024 a las 10:15, Tienda (<s@e.es>) escribió:',
  'Em ter., 12 de mar. de 2024 às 10:15, Loja <s@e.pt> escreveu:',
  'Il giorno mar 12 mar 2024 alle ore 10:15 Negozio <s@e.it> ha scritto:',
  'Op di 12 mrt 2024 om 10:15 schreef Winkel <s@e.nl>:',
  'Op 12 mrt 2024 om 10:15 heeft Winkel het volgende geschreven:',
  'Den tirs. 12. mar. 2024 kl. 10.15 skrev Butik <s@e.dk>:',
  'tir. 12. mars 2024 kl. 10:15 skrev Butikk <s@e.no>:',
  'Den tis 12 mars 2024 kl 10:15 skrev Butik <s@e.se>:',
  'ti 12.3.2024 klo 10.15 Kauppa (s@e.fi) kirjoitti:',
  'wt., 12 mar 2024 o 10:15 Sklep <s@e.pl> napisał(a):',
  'W dniu 12.03.2024 o 10:15, Sklep pisze:',
  'út 12. 3. 2024 v 10:15 odesílatel Obchod <s@e.cz> napsal:',
  'ut 12. 3. 2024 o 10:15 Obchod <s@e.sk> napísal(a):',
  'Bolt <s@e.hu> ezt írta (időpont: 2024. márc. 12., K, 10:15):',
  '2024. 03. 12. 10:15 keltezéssel, Bolt írta:',
  'În mar., 12 mar. 2024 la 10:15, Magazin <s@e.ro> a scris:',
  'На вт, 12.03.2024 г. в 10:15 ч. Магазин <s@e.bg> написа:',
  'Στις Τρί 12 Μαρ 2024 στις 10:15 π.μ., ο χρήστης Κατάστημα <s@e.gr> έγραψε:',
  'uto, 12. ožu 2024. u 10:15 Trgovina <s@e.hr> napisao je:',
  'V V tor., 12. mar. 2024 ob 10:15 je oseba Trgovina <s@e.si> napisala:',
  'Pood <s@e.ee> kirjutas kuupäeval T, 12. märts 2024 kell 10:15:',
  'otrd., 2024. g. 12. marts, plkst. 10:15 — lietotājs Veikals (<s@e.lv>) rakstīja:',
  '2024-03-12, an, 10:15 Parduotuvė <s@e.lt> rašė:',
  'Mağaza <s@e.tr>, 12 Mar 2024 Sal, 10:15 tarihinde şunu yazdı:',
  'вт, 12 бер. 2024 р. о 10:15 Магазин <s@e.ua> пише:',
  'вт, 12 мар. 2024 г. в 10:15, Магазин <s@e.ru>:',
  '12.03.2024 10:15, Магазин пишет:',
];

const FORWARDED = [
  '---------- Forwarded message ---------\nFrom: A <a@e.com>\nDate: Tue, 12 Mar 2024 10:15\nSubject: B\nTo: C',
  '----- Forwarded message from A <a@e.com> -----\n\nDate: Tue, 12 Mar 2024 10:15\nFrom: A\nTo: C\nSubject: B',
  '-------- Weitergeleitete Nachricht --------\nVon: A\nDatum: 12. März 2024 10:15\nAn: C\nBetreff: B',
  'Début du message transféré :\n\nDe: A <a@e.fr>\nDate: 12 mars 2024\nÀ: C\nObjet: B',
  '-------- Messaggio Inoltrato --------\nDa: A\nData: 12 marzo 2024\nA: C\nOggetto: B',
  '-------- Doorgestuurd bericht --------\nVan: A\nDatum: 12 maart 2024\nAan: C\nOnderwerp: B',
  '---------- Przekazana wiadomość ----------\nOd: A\nData: 12 marca 2024\nDo: C\nTemat: B',
  '-------- Přeposlaná zpráva --------\nOd: A\nDatum: 12. března 2024\nKomu: C\nPředmět: B',
];

const KEPT = [
  'Grüße aus Berlin soll ich ausrichten.\nWann kommt die Ware?',
  'Viele Grüße sollten auf die Karte.\nGeht das?',
  'Danke!\nDie Rechnung stimmt aber noch nicht.',
  'Hola,\nGracias.\nMi pedido no ha llegado todavía.',
  'Hallo Frau Meier,\n\nvielen Dank!\n\nMax',
  'Bitte an die neue Adresse liefern.\nDanke\nKundennummer 4711',
  'Bitte liefern Sie morgen.\nDanke\nGeht das auch abends?',
  'Gracias',
  'Cordiali saluti\nMario',
  'Thanks!\nJane',
  'The photo was\nsent from my iPhone.',
  'Sent from my iPhone, but the parcel is late.',
  'I cannot log in.\nSent from my warehouse last week, it never came.',
  'Wie gewünscht zurück.\nGesendet mit der Post am 3. März.',
  'Enviado desde el almacén el 3 de marzo.\n¿Dónde está?',
  'Inviato da Roma ieri sera.\nArriva domani?',
  'Von mir am Montag mit DHL gesendet.\nWo ist es?',
  'Get my iPhone repaired, please.\nIt is broken.',
  'Bitte umbuchen:\nVon: Berlin\nDatum: 3.4.2024, 10:15 Uhr\nAn: Köln\n\nGeht das?',
  'Our trip:\nFrom: Rome\nTo: Paris\nDate: 3 April\nWe need two seats.',
  'No: 4711\nDate: 3 April 2024 10:15\nSubject: Order\nIt never came.',
  'Hallo,\nAm 12. März um 10:15 schrieb ich Ihnen:\n\nBitte stornieren.',
  'Am 12.3. um 10:15 schrieb Ihre Kollegin, dass getauscht wird. Dazu eine Frage:\n\nWann?',
  'Le 12 mars à 10:15 on m’a écrit :\n\nVotre colis est perdu. Et maintenant ?',
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

  it.each(DEVICE_LINES)('removes the line %j', (line) => {
    expect(cleanBody(`Order 4711 is late.\n\n${line}`)).toBe('Order 4711 is late.');
    expect(cleanBody(`Order 4711 is late.\n\n${line}\n\n> a quote`)).toBe('Order 4711 is late.');
  });

  it.each(CLOSINGS)('removes the closing %j', (line) => {
    expect(cleanBody(`My order 4711 is late.\n\n${line}\n\nJane Doe\n+49 30 1234`)).toBe('My order 4711 is late.');
  });

  it.each(SEPARATORS)('removes the text after %j', (lines) => {
    expect(cleanBody(`Order 4711 is late.\n${lines}\n\nold`)).toBe('Order 4711 is late.');
  });

  it.each(HEADINGS)('removes a quote after %j', (lines) => {
    expect(cleanBody(`Order 4711 is late.\n\n${lines}\n\nold`)).toBe('Order 4711 is late.');
    expect(cleanBody(`${lines}\n> old\n\nOrder 4711 is late.`)).toBe('Order 4711 is late.');
    expect(cleanBody(`On Monday I am away\n${lines}\n> old`)).toBe('On Monday I am away');
  });

  it.each(FORWARDED)('keeps the text after %j', (lines) => {
    const body = `Please check.\n\n${lines}\n\nMy order is late.`;
    expect(cleanBody(body)).toBe(body);
  });

  it.each(KEPT)('keeps all of %j', (body) => {
    expect(cleanBody(body)).toBe(body);
  });

  it('keeps replies that start without `>` between a heading and its quotes', () => {
    const heading = 'On Tue, Mar 12, 2024 at 10:15 AM Shop <s@e.com> wrote:';
    expect(cleanBody(`Hello,\n\n${heading}\n[...]\n> Which size?\n\nSize 42.`)).toContain('Size 42.');
    expect(cleanBody(`Hello,\n\n${heading}\n\nKP> Which size?\nSize 42.`)).toContain('Size 42.');
  });

  it('removes a short closing with the signature below it, unless a number stands between', () => {
    const signature = 'Mit freundlichen Grüßen\nMax';
    expect(cleanBody(`Bitte um eine neue Rechnung.\nVielen Dank!\n\n${signature}`)).toBe(
      'Bitte um eine neue Rechnung.',
    );
    expect(cleanBody(`Bitte um eine neue Rechnung.\nVielen Dank!\nNummer 4711\n\n${signature}`)).toBe(
      'Bitte um eine neue Rechnung.\nVielen Dank!\nNummer 4711',
    );
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

describe('mailText', () => {
  it.each([
    ['<p>See <a href="https://a.de/x">our page</a>.</p>', 'See our page <https://a.de/x>.'],
    ['<a href="https://a.de/">https://a.de</a>, <a href="mailto:a@b.de">a@b.de</a>', 'https://a.de, a@b.de'],
    ['<a href="tel:+49 30">+49 30</a>, <a href="mailto:a@b.de">Kim</a>', '+49 30, Kim <a@b.de>'],
    ['<a href="https://a.de">https://b.de</a>', 'https://b.de <https://a.de>'],
    ['<a href="https://a.de"><img alt="Shop" src="cid:a"></a>', '[Shop] <https://a.de>'],
    ['<a>none</a> <img src="cid:a"> <img alt=" " src="cid:a"> end', 'none end'],
    ['<ol><li>a</li><li><p>b</p></li></ol><p>c</p>', ' 1. a\n\n 2. b\n\nc'],
    ['<ol start="9"><li>a<ul><li>x</li></ul></li><li>b</li></ol>', ' 9.  a\n     - x\n\n 10. b'],
    ['<ul><li>a</li></ul>', '- a'],
    ['<table><tr><td>a</td><td><a href="https://b.de">b</a></td></tr></table>', 'a | b <https://b.de>'],
    ['a &lt; b &amp; c', 'a < b & c'],
  ])('%s', (html, text) => {
    expect(mailText(html)).toBe(text);
  });
});
