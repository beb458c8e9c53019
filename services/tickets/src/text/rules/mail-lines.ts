/** Alternatives of a regular expression that ignores case, by language: a new word is a change of one line. */
type ByLanguage = Readonly<Record<string, string | readonly string[]>>;

/** A longer line is none of those that are recognised here. */
export const MAX_MARK_CHARS = 300;

/** How many lines are searched for the fields of a header block. */
const MAX_HEADER_LINES = 9;

/** To how many lines mail programs wrap a heading. */
const MAX_HEADING_LINES = 3;

const MAX_DEVICE_CHARS = 150;
const MAX_CLOSING_CHARS = 120;

/** Stands between dashes: `-----Original Message-----`. */
const ORIGINAL: ByLanguage = {
  en: 'original[- ]?(?:message|appointment)|reply message',
  de: 'original[- ]?nachricht|ursprüngliche (?:nachricht|mitteilung)',
  fr: "message (?:d[’']origine|original|initial)",
  es: 'mensaje original',
  pt: 'mensagem original',
  it: 'messaggio originale',
  nl: '(?:oorspronkelijk|origineel) bericht',
  da: '(?:oprindelig|original) (?:meddelelse|besked)',
  nb: '(?:opprinnelig|original) melding|opphavleg melding',
  sv: 'ursprungligt (?:meddelande|mejl)|originalmeddelande',
  fi: 'alkuperäinen viesti',
  pl: '(?:treść )?oryginalnej wiadomości|(?:oryginalna|pierwotna) wiadomość|wiadomość oryginalna',
  cs: '(?:původní|originální) zpráva',
  sk: '(?:pôvodná|originálna) správa',
  hu: 'eredeti (?:üzenet|levél)',
  ro: 'mesaj(?:ul)? (?:original|inițial|iniţial)',
  bg: '(?:оригинално|първоначално) (?:съобщение|писмо)',
  el: '(?:αρχικό|πρωτότυπο) μήνυμα',
  hr: '(?:izvorna|originalna) poruka',
  sl: '(?:izvirno|prvotno|originalno) sporočilo',
  et: '(?:algne|originaal) ?(?:kiri|sõnum|teade)|algsõnum',
  lv: '(?:sākotnējais|sākotnējā|oriģinālais) (?:ziņojums|ziņa)',
  lt: '(?:originalus|pradinis|pirminis) (?:laiškas|pranešimas)',
  tr: '(?:özgün|orijinal) (?:[iİ]leti|mesaj)',
  uk: '(?:початкове|вихідне|оригінальне) повідомлення',
  ru: '(?:исходное|оригинальное|первоначальное) сообщение',
};

/** Stands between dashes: `---------- Forwarded message ---------`. */
const FORWARDED: ByLanguage = {
  en: '(?:begin |start of )?forwarded (?:message|text|mail)(?: from .+)?',
  de: 'weitergeleitete (?:nachricht|e-mail)',
  fr: 'message (?:transféré|transmis|réexpédié)|courriel transféré',
  es: 'mensaje reenviado',
  pt: 'mensagem (?:re)?encaminhada',
  it: 'messaggio inoltrato',
  nl: 'doorgestuurd bericht',
  da: 'videresendt (?:meddelelse|besked)',
  nb: 'videresendt (?:melding|e-post)',
  sv: 'vidarebefordrat (?:meddelande|mejl)',
  fi: '(?:edelleenlähetetty|välitetty) viesti(?: / fwd\\.msg)?',
  pl: '(?:treść przekazanej wiadomości|(?:przekazana|przesłana dalej) wiadomość)',
  cs: '(?:přeposlaná|předaná) zpráva',
  sk: 'preposlaná správa(?: -{3} forwarded message)?',
  hu: 'továbbított (?:üzenet|levél)',
  ro: 'mesaj (?:redirec[țţ]ionat|[îi]naintat)',
  bg: 'препратено (?:съобщение|писмо)',
  el: '(?:προωθημένο|προωθούμενο) μήνυμα',
  hr: 'proslijeđena poruka',
  sl: 'posredovano sporočilo',
  et: 'edastatud (?:kiri|sõnum)',
  lv: 'pārsūtī(?:tais|ta) (?:ziņojums|ziņa)',
  lt: 'persiųstas (?:laiškas|pranešimas)',
  tr: '[iİ]letil(?:en|miş) (?:[iİ]leti|mesaj)',
  uk: '(?:переслане|перенаправлене) повідомлення',
  ru: '(?:пересылаемое|пересланное|перенаправленное) сообщение',
};

/** Apple Mail writes it before a forwarded message, with a colon. */
const FORWARDED_BELOW: ByLanguage = {
  en: 'begin forwarded message',
  de: 'anfang der weitergeleiteten (?:nachricht|e-mail)',
  fr: 'début du message (?:réexpédié|transféré)',
  es: 'inicio del mensaje reenviado',
  pt: 'início da mensagem (?:re)?encaminhada',
  it: 'inizio (?:del )?messaggio inoltrato',
  nl: 'begin doorgestuurd bericht',
  da: 'start på videresendt besked',
  nb: 'videresendt melding',
  sv: 'vidarebefordrat (?:mejl|brev)',
  fi: 'välitetty viesti alkaa',
  pl: 'początek przekazywanej wiadomości',
  cs: 'začátek přeposílané zprávy',
  sk: 'začiatok preposlanej správy',
  hu: 'továbbított levél kezdete',
  ro: '[îi]ncepe mesajul redirec[țţ]ionat',
  hr: 'započni proslijeđenu poruku',
  tr: '[iİ]leti başlangıcı',
  uk: 'початок листа, що пересилається',
  ru: 'начало переадресованного сообщения',
};

const IS_ORIGINAL = matchStart(ORIGINAL);
const IS_FORWARDED = matchStart(FORWARDED);
const IS_FORWARDED_BELOW = new RegExp(`^(?:${joined(FORWARDED_BELOW)}) ?:$`, 'iu');
/** PGP writes `- -----`. Some programs leave out the dashes at the end, or add the English words. */
const BETWEEN_DASHES =
  /^(?:- )?[-_=*]{2,60} ?(\p{L}.{1,120}?) ?(?:(?:-{3}|\/) ?(?:orig|fwd)[a-z. ]{1,20})?[-_=*]{0,60}$/iu;

/** Recognises a line such as `-----Original Message-----`, after which the rest is a quote. */
export function isSeparator(text: string): boolean {
  return isBetweenDashes(text, IS_ORIGINAL);
}

/** Recognises the line before a forwarded message. */
export function startsForwarded(text: string): boolean {
  return isBetweenDashes(text, IS_FORWARDED) || (text.endsWith(':') && IS_FORWARDED_BELOW.test(text));
}

function isBetweenDashes(line: string, phrase: RegExp): boolean {
  const text = BETWEEN_DASHES.exec(line)?.[1]?.trim() ?? '';
  return phrase.exec(text)?.[0] === text && text !== '';
}

type Field = 'from' | 'date' | 'to' | 'subject';

/** The names of the fields of Outlook, other programs and Gmail, with `, ` between them. */
const HEADERS: Readonly<Record<string, Readonly<Record<Field, string>>>> = {
  en: { from: 'from', date: 'sent, date', to: 'to, cc', subject: 'subject' },
  de: { from: 'von', date: 'gesendet, gesendet am, datum', to: 'an, cc, kopie', subject: 'betreff' },
  fr: { from: 'de', date: 'envoyé, envoyé le, date', to: 'à, a, pour, cc', subject: 'objet, sujet' },
  es: { from: 'de', date: 'enviado, enviado el, fecha', to: 'para, cc', subject: 'asunto' },
  pt: { from: 'de', date: 'enviado, enviada, enviado em, enviada em, data', to: 'para, cc', subject: 'assunto' },
  it: { from: 'da, mittente', date: 'inviato, inviato il, data', to: 'a, cc', subject: 'oggetto' },
  nl: { from: 'van', date: 'verzonden, datum', to: 'aan, cc', subject: 'onderwerp' },
  da: { from: 'fra', date: 'sendt, dato', to: 'til, cc', subject: 'emne' },
  nb: { from: 'fra', date: 'sendt, dato', to: 'til, kopi', subject: 'emne' },
  sv: { from: 'från', date: 'skickat, datum', to: 'till, kopia', subject: 'ämne' },
  fi: { from: 'lähettäjä', date: 'lähetetty, päivämäärä, päiväys', to: 'vastaanottaja, kopio', subject: 'aihe' },
  pl: { from: 'od, nadawca', date: 'wysłano, wysłane, data', to: 'do, dw, adresat', subject: 'temat' },
  cs: { from: 'od', date: 'odesláno, datum', to: 'komu, kopie', subject: 'předmět' },
  sk: { from: 'od', date: 'odoslané, dátum', to: 'komu, pre, kópia', subject: 'predmet' },
  hu: { from: 'feladó', date: 'elküldve, küldve, dátum', to: 'címzett, másolatot kap', subject: 'tárgy' },
  ro: {
    from: 'de la, de, expeditor, expeditorul',
    date: 'trimis, data, dată',
    to: 'către, catre, pentru, destinatar, destinatarul',
    subject: 'subiect, subiectul',
  },
  bg: { from: 'от', date: 'изпратено, изпратени, дата', to: 'до, копие', subject: 'относно, тема' },
  el: { from: 'από', date: 'στάλθηκε, αποστολή, ημερομηνία', to: 'προς', subject: 'θέμα' },
  hr: { from: 'od, šalje', date: 'poslano, datum', to: 'za, prima, kopija', subject: 'predmet, naslov' },
  sl: { from: 'od', date: 'poslano, datum', to: 'za, kp', subject: 'zadeva' },
  et: { from: 'saatja, kellelt', date: 'saadetud, kuupäev', to: 'adressaat, kellele, saaja', subject: 'teema' },
  lv: { from: 'no', date: 'nosūtīts, sūtīts, datums', to: 'kam', subject: 'tēma, temats' },
  lt: { from: 'nuo, siuntėjas', date: 'išsiųsta, data', to: 'kam, gavėjas', subject: 'tema' },
  tr: {
    from: 'kimden, gönderen',
    date: 'gönderildi, gönderilme tarihi, gönderilen, tarih',
    to: 'kime, alıcı',
    subject: 'konu',
  },
  uk: { from: 'від, від кого', date: 'надіслано, відправлено, дата', to: 'кому, копія', subject: 'тема' },
  ru: { from: 'от, от кого, отправитель', date: 'отправлено, дата', to: 'кому, копия', subject: 'тема' },
};

/** The field that a name means in each language: `de` is the sender in French, Spanish and others. */
const FIELDS = new Map<string, Map<string, string>>();
for (const [language, fields] of Object.entries(HEADERS)) {
  for (const [field, names] of Object.entries(fields)) {
    for (const name of names.split(', ')) FIELDS.set(name, new Map(FIELDS.get(name)).set(language, field));
  }
}

/** Gmail writes bold names in plain text as `*Von:* Shop`. */
const FIELD_NAME = /^\*{0,2}(\p{L}[\p{L} ]{0,20}?) ?:\*{0,2}\s*\S/u;

/** Returns the index of the first header block, or -1. */
export function findHeaderBlock(lines: readonly string[]): number {
  const fields = lines.map(readFields);
  return lines.findIndex(
    (_, at) =>
      fields[at] !== undefined &&
      isHeaderBlock(fields.slice(at, at + MAX_HEADER_LINES), lines.slice(at, at + MAX_HEADER_LINES)),
  );
}

/**
 * Recognises "From / Sent / To / Subject" in one language, with or without empty lines in between. GMX starts with the
 * date. Without a subject, a recipient and an address are necessary, because a journey has "from, to, date" too.
 */
function isHeaderBlock(fields: readonly LineFields[], lines: readonly string[]): boolean {
  for (const [language, first] of fields[0] ?? []) {
    const has = (field: Field, within = MAX_HEADER_LINES) =>
      fields.slice(0, within).some((line) => line?.get(language) === field);
    const startsWell = first === 'from' ? has('date') : first === 'date' && has('from', 3);
    if (startsWell && (has('subject') || (has('to') && lines.some((text) => ADDRESS.test(text))))) return true;
  }
  return false;
}

type LineFields = ReadonlyMap<string, string> | undefined;

function readFields(line: string): LineFields {
  const name = FIELD_NAME.exec(line.slice(0, MAX_MARK_CHARS).trim())?.[1];
  return name === undefined ? undefined : FIELDS.get(name.toLowerCase());
}

/** Begins a heading such as "On 3 May at 10:15, Kim wrote:". */
const BEFORE_DATE: ByLanguage = {
  en: 'on|at',
  de: 'am',
  fr: 'le',
  es: 'el',
  pt: 'em|no dia|às|a',
  it: 'il|in data',
  nl: 'op',
  da: 'den|d\\.',
  nb: 'på',
  pl: 'dnia|w dniu',
  cs: 'dne',
  sk: 'dňa',
  ro: 'la|în|pe',
  bg: 'на',
  el: 'στις',
  hr: 'dana',
  sl: 'v',
};

const WROTE: ByLanguage = {
  en: 'wrote|quoting',
  de: 'schrieb|schrieben|geschrieben|zitat von',
  fr: 'a écrit',
  es: 'escribió|ha escrito',
  pt: 'escreveu',
  it: 'ha scritto',
  nl: 'schreef|geschreven',
  da: 'skrev',
  fi: 'kirjoitti',
  pl: 'napisał(?:\\(a\\)|a)?|pisze',
  cs: 'napsal(?:\\(a\\)|a)?',
  sk: 'napísal(?:\\(a\\)|a)?',
  hu: 'írta',
  ro: 'a scris',
  bg: 'написа',
  el: 'έγραψε',
  hr: 'napisao(?:/la| je)?|napisala(?: je)?',
  sl: 'napisal(?:\\(a\\)|a)?',
  et: 'kirjutas',
  lv: 'rakstīja',
  lt: 'rašė',
  tr: 'yazdı',
  uk: 'пише|написав|написала',
  ru: 'пишет|написал(?:\\(а\\)|а)?',
};

/** A heading with such a word is a sentence of the author: "On 3 May at 10:15 I wrote:". */
const FIRST_PERSON: ByLanguage = {
  en: 'i|me',
  de: 'ich|wir|mir|uns',
  fr: "j[’']ai|m[’']a|nous",
  es: 'yo|me|nos',
  pt: 'eu|me|nos',
  it: 'mi|ci',
  nl: 'ik|mij|ons',
  da: 'jeg|mig|meg|os|oss',
  sv: 'jag',
  pl: 'mi|nam',
  cs: 'nám',
  ru: 'мне|нам|мені',
};

/** Words in lower case that names have. */
const NAME_WORDS = new Set(
  'von van vom der den de del della di da do dos du la le el al zu und and et y e og och via följande følgende'.split(
    ' ',
  ),
);

const STARTS_WITH_PREPOSITION = new RegExp(`^(?:${joined(BEFORE_DATE)})\\s`, 'iu');
const HAS_VERB = matchWord(WROTE);
const HAS_FIRST_PERSON = matchWord(FIRST_PERSON);

/** Examples: "12.03.2024 10:15", "út 12. 3. 2024 v 10:15", "torsdag den 12. marts 2024". */
const STARTS_WITH_DATE = /^(?:\p{L}{1,12}[.,]{0,2}\s){0,3}\d{1,4}(?:[.,/-]|\s)/u;
const FULL_DATE = /(?<!\d)(?:19|20)\d\d(?!\d)|\d[./-] ?\d{1,2}[./-] ?\d\d/;
const TIME = /\d ?[:h] ?\d\d|(?:kl\.?|klo|kell|um|at|ore|alle|ob) \d{1,2}\.\d\d/;
const ADDRESS = /\S@\S/;
const ENDS_WITH_ADDRESS = /[<([]\S{1,100}@\S{1,100}[>)\]] ?:$/;

/** Examples: "… 10:15 Uhr:", "(… 10:15):", "… 10:15 dátummal:". */
const ENDS_WITH_DATE = /\d[^\p{L}]{0,5}(?:\p{L}{1,9}\.?)?[)\]]? ?:$/u;

/** A heading of a quote. */
export interface Heading {
  /** The index after its last line. */
  readonly end: number;
  /** It contains a time or an address, so the text after it is a quote even without `>`. */
  readonly certain: boolean;
}

/**
 * Reads "On 3 May 2024 at 10:15, Kim <kim@example.com> wrote:", which mail programs wrap. A line before one that starts
 * a heading belongs to the message.
 */
export function readHeading(lines: readonly string[], at: number): Heading | null {
  const parts: string[] = [];
  for (let end = at; end < at + MAX_HEADING_LINES; end += 1) {
    const part = lines[end]?.slice(0, MAX_MARK_CHARS + 1).trim() ?? '';
    if (part === '' || part.length > MAX_MARK_CHARS) return null;
    parts.push(part);
    const certain = /[:-]/.test(part.slice(-1)) ? parseHeading(parts.join(' ')) : null;
    if (certain !== null) {
      const startsLater = parts.some(
        (later, from) => from > 0 && startsHeading(later) && parseHeading(parts.slice(from).join(' ')) !== null,
      );
      return startsLater ? null : { end: end + 1, certain };
    }
    if ('.!?:'.includes(part.slice(-1)) || (end === at && !startsHeading(part) && !part.includes('@'))) return null;
  }
  return null;
}

function startsHeading(text: string): boolean {
  return STARTS_WITH_PREPOSITION.test(text) || STARTS_WITH_DATE.test(text);
}

/** Returns whether the heading on one line is certain, or null if there is none. Zoho puts it between dashes. */
function parseHeading(line: string): boolean | null {
  const text = line.endsWith(' ----') ? line.replace(/^-{4} (.*) -{4}$/, '$1:') : line;
  if (!text.endsWith(':') || text.length > MAX_MARK_CHARS) return null;
  const dated = STARTS_WITH_DATE.test(text) && FULL_DATE.test(text) && TIME.test(text);
  if (dated && ENDS_WITH_ADDRESS.test(text)) return true;
  const verb = HAS_VERB.exec(text);
  if (verb === null || HAS_FIRST_PERSON.test(text)) return null;
  const hasAddress = ADDRESS.test(text);
  const before = text.slice(0, verb.index);
  const after = text.slice(verb.index + verb[0].length);
  const endsWithDate = FULL_DATE.test(after) && ENDS_WITH_DATE.test(after);
  const startsWell = STARTS_WITH_PREPOSITION.test(text) || hasAddress || dated || (endsWithDate && isName(before));
  const endsWell = hasAddress || endsWithDate || isName(after);
  return startsWell && endsWell ? hasAddress || TIME.test(text) : null;
}

function isName(text: string): boolean {
  return (text.match(/[\p{L}\p{N}][\p{L}\p{N}.’'-]*/gu) ?? []).every(
    (part) => !/^\p{Ll}/u.test(part) || NAME_WORDS.has(part.toLowerCase()),
  );
}

/** Begins a line such as "Sent from my iPhone". */
const SENT: ByLanguage = {
  en: '(?:sent|written) (?:from|via|with|using|on)',
  de: [
    '(?:diese (?:nachricht|e-?mail|mail) wurde |ist )?(?:gesendet|geschickt|geschrieben) (?:von|mit|aus|vom|über)',
    'diese (?:nachricht|e-?mail|mail) wurde (?:von|mit)',
    'von(?=.* (?:gesendet|geschickt|geschrieben))',
    'mobil gesendet',
  ],
  fr: "envoyée? (?:de|depuis|à partir|avec|via|d(?=[’']))|provenance ?:",
  es: 'enviado (?:desde|de|con)',
  pt: 'enviad[oa] (?:d[eoa]|a partir|com|pelo|via)',
  it: "inviat[oa] (?:da|dal|con|tramite|dall(?=[’']))",
  nl: '(?:verzonden|verstuurd) (?:vanaf|vanuit|via|met|van)',
  da: 'sendt (?:fra|med|via)',
  sv: '(?:skickat|skickades|sänt) (?:från|med|via)',
  fi: 'lähetetty',
  pl: 'wysłan[aeoy] (?:z|ze|za|przez)',
  cs: 'odesláno (?:z|ze|pomocí|přes)',
  sk: 'odoslané (?:z|zo|pomocou|cez)',
  ru: 'отправлено',
  uk: 'надіслано (?:з|із|за|через)',
  bg: 'изпратено (?:от|чрез)',
  el: '(?:στάλθηκε|εστάλη|απεστάλη) (?:από|με|μέσω)',
  hu: '(?:az )?\\S{1,30} küldve',
  ro: 'trimis (?:de|din|cu)',
  et: 'saadetud',
  lt: 'išsiųsta (?:iš|naudojant)',
  lv: 'nosūtīts (?:no|ar|izmantojot)',
  hr: 'poslan[oa] (?:z|s|sa|iz|putem|pomoću)',
  tr: '\\S{1,30} gönderildi',
  ca: 'enviat (?:des|de|del|amb)',
};

/** Begins a line such as "Get Outlook for Android". */
const GET: ByLanguage = {
  en: 'get|download|yahoo mail: search, organize, conquer',
  de: 'holen sie sich|laden sie|outlook für \\S{1,10} (?:herunterladen|beziehen|holen|abrufen)',
  fr: 'télécharger|téléchargez|obtenez|obtenir',
  es: 'obtener|obtén|obtenga|descargar|descarga|descargue',
  pt: 'obter|obtenha|baixar|baixe|descarregar|transferir',
  it: 'scarica|ottieni',
  nl: 'download|haal|outlook voor \\S{1,10} (?:downloaden|ophalen)',
  da: 'hent|få',
  nb: 'last ned',
  sv: 'hämta|skaffa|ladda ned',
  pl: 'pobierz|uzyskaj',
  cs: 'získat|získejte|stáhnout|stáhněte',
};

const PROGRAMS = 'outlook|gmail|yahoo|proton|tutanota|gmx|web\\.de|thunderbird|k-9|bluemail|aqua mail|mymail';
const MAKERS =
  'iphon|ipad|ipod|apple|macbook|android|samsung|galaxy|huawei|honor|xiaomi|redmi|pixel|oneplus|nokia|xperia|motorola|oppo|htc|blackberry|windows|lumia|t-online|telekom|vodafone|aol|icloud|hotmail';

/** Devices without their maker. */
const DEVICES: ByLanguage = {
  en: 'phone|mobile|cell|smartphone|tablet|device',
  de: 'handy|mobiltelefon|mobilgerät|unterwegs',
  fr: 'téléphone|portable|tablette',
  es: 'teléfono|móvil|celular|tableta',
  pt: 'telefone|telemóvel',
  it: 'telefono|telefonino|cellulare',
  nl: 'telefoon|mobiel|mobieltje|gsm',
  da: 'mobil|telefon|nettbrett',
  sv: 'mobilen|surfplatta',
  pl: 'telefonu|smartfona|smartfonu|tabletu|komórki',
  cs: 'mobilu|smartphonu|chytrého',
  ru: 'телефона|смартфона|планшета',
  uk: 'телефону',
  hr: 'mobitela|telefona',
};

/** Other words in lower case of such lines, a line for each language, in the order of `SENT`. */
const DEVICE_WORDS = new Set(
  `my a an the for on with from of to using via new work wireless secure encrypted email e mail app mini pro max plus
  mein meine meinem meiner dem der des einem einer für mit auf aus von vom per mobilen sichere sicheren wurde
  gesendet geschickt geschrieben sie sich herunter herunterladen beziehen holen abrufen
  mon ma un une la les le de d l des du pour avec sur depuis à partir appareil application sécurisée courrier messagerie
  mi el la del para con en desde dispositivo aplicación correo electrónico seguro
  meu minha o um uma do da com no na em dispositivo aparelho aplicação aplicativo
  mio mia il lo uno di dal dalla dall del per su applicazione posta sicura
  mijn een het voor met op van vanaf mobiele toestel apparaat beveiligde downloaden ophalen
  min mitt mit en et ett på fra från til för med enhed enhet smarttelefon sikker säker post ned
  mojego mojej z ze za pomocą dla w do systemu aplikacji aplikację poczty urządzenia bezpiecznej
  mého pro v pomocí přes aplikace mobilního zařízení zabezpečeného
  с моего моей из на через для устройства телефона мобильного приложения почты
  з із мого моєї за допомогою пристрою телефону
  от моя моето чрез устройство телефон
  από το τη την μου με συσκευή κινητό
  de pe din cu meu mea la ul
  minu oma ist
  iš mano naudojant telefono
  no mana manas ar telefona
  s sa iz mog moje mojega mojeg putem pomoću mobitela telefona uređaja
  des del meu mòbil`.split(/\s+/),
);

/** Words of a second sentence, which asks to excuse mistakes of typing. */
const EXCUSE =
  /typo|misspell|autocorrect|brevity|brief|tippfehler|schreibfehler|kürze|brièveté|fautes? de|brevedad|errores|brevità|errori|brevidade|erros|beknopt|typefout/i;

const IS_SENT = matchStart(SENT);
const IS_GET = matchStart(GET);
const PROGRAM = new RegExp(PROGRAMS, 'i');
const PRODUCT = new RegExp(`${PROGRAMS}|${MAKERS}|^sent from mail$`, 'i');
const HAS_DEVICE = matchWord(DEVICES);
const LINK = /[<([]?(?:https?:|mailto:|www\.)[^\s<>()[\]]*[>)\]]?/gi;

/**
 * Recognises a line such as "Sent from my iPhone" or "Get Outlook for iOS<https://…>".
 *
 * The line names a device or a program, and otherwise has only names and words of such lines: "Sent from my iPhone, but
 * the parcel is late" belongs to the message, and so does a line in lower case, unless it `startsParagraph`.
 */
export function isDeviceLine(line: string, startsParagraph: boolean): boolean {
  if (line.length > MAX_MARK_CHARS || !(startsParagraph || /^\p{Lu}/u.test(line))) return false;
  const sent = IS_SENT.exec(line)?.[0];
  const start = sent ?? IS_GET.exec(line)?.[0];
  if (start === undefined) return false;
  const text = withoutExcuse(line.replace(LINK, ' ').replace(/\s+/g, ' ')).replace(/[\s.!]+$/, '');
  if (text.length > MAX_DEVICE_CHARS) return false;
  const isNamed = sent === undefined ? PROGRAM.test(text) : PRODUCT.test(text) || HAS_DEVICE.test(text);
  const rest = text.slice(start.length).split(/[^\p{L}\p{N}.+]+/u);
  return isNamed && rest.every(isDeviceWord);
}

function isDeviceWord(text: string): boolean {
  return !/^\p{Ll}+$/u.test(text) || DEVICE_WORDS.has(text) || PRODUCT.test(text) || HAS_DEVICE.test(text);
}

function withoutExcuse(text: string): string {
  const end = /[.,;:!–-] |\(/.exec(text)?.index;
  return end !== undefined && EXCUSE.test(text.slice(end)) ? text.slice(0, end) : text;
}

const GRUSS = 'gr(?:u|ü|ue)(?:ß|ss)(?:en|e)?';

/** Ends a message, and is hardly ever within one. */
const CLOSINGS: ByLanguage = {
  en: [
    '(?:with )?(?:my |our |very )?(?:best|kind|kindest|warm|warmest|many) (?:regards|wishes|greetings)',
    '(?:with )?regards|rgds',
    '(?:many thanks|thanks|thank you),? (?:and|&) (?:best |kind )?regards',
    '(?:yours )?(?:sincerely|faithfully|truly|respectfully)(?: yours)?',
    'cheers|all the best|many thanks',
  ],
  de: [
    `(?:mit )?(?:den |ganz |viele )?(?:freundlich|best|herzlich|lieb|viel|schön|sonnig|nett)(?:sten|en|em|er|e)(?: (?:lieb|herzlich|schön|sonnig)en?)? ${GRUSS}`,
    `(?:vielen |besten |herzlichen )?danke?(?: im voraus)? und (?:viele|freundliche|beste|liebe|herzliche|schöne) ${GRUSS}`,
    `mit ${GRUSS}|mit (?:freundlichen|besten) empfehlungen`,
    'hochachtungsvoll|herzlichst|freundlichst|mfg|m\\.f\\.g\\.|glg|lg|vg|mbg',
  ],
  fr: [
    '(?:bien |très |sincèrement )?cordialement(?: à vous)?|cdl?t',
    'bien à (?:vous|toi)|bonne (?:journée|soirée)|amicalement|respectueusement|sincèrement',
    '(?:avec )?(?:mes |nos )?(?:sincères|meilleures|cordiales|respectueuses) salutations',
    'salutations (?:distinguées|cordiales)',
    "(?:(?:je|nous) vous pri(?:e|ons) d[’']|veuillez |recevez)(?:agréer|accepter|recevoir|croire)?[^.!?]{0,80}(?:salutations|sentiments|considération)(?: (?:les |l[’'])?(?:plus )?(?:distinguée?s?|meilleure?s|respectueux|cordiales))?",
  ],
  es: [
    '(?:reciban? |con )?(?:un )?(?:cordial |atento |afectuoso )?saludos?(?: (?:muy )?(?:cordial(?:es)?|atentos?))?',
    '(?:les? saluda )?(?:muy )?(?:atentamente|atte\\.?)|cordialmente|un abrazo',
  ],
  pt: [
    '(?:com )?(?:os )?(?:melhores|meus) (?:cumprimentos|saudações)|cumprimentos|saudações(?: cordiais)?',
    '(?:muito )?aten(?:ciosa|ta)mente|respeitosamente|att\\.?',
    '(?:um )?(?:grande )?abraço|abraços',
  ],
  it: [
    '(?:porgo |porgiamo |con )?(?:i )?(?:(?:più|miei|nostri) )?(?:cordiali|distinti|migliori|cari) saluti',
    'saluti (?:cordiali|distinti)|(?:un )?cordiale? saluto|cordialmente|cordialità|in fede',
  ],
  nl: '(?:met )?(?:zeer |heel )?(?:vriendelijke|hartelijke|warme|beste) groet(?:en|jes)?|hoogachtend|m\\.?v\\.?g\\.?',
  da: '(?:med )?(?:de )?(?:venlige?|venligst|bedste|mange) hils(?:en|ner)|venligst|m\\.?v\\.?h\\.?',
  nb: '(?:med )?(?:vennlige?|vennligst|beste|hjertelig) hilsen(?:er)?|vennligst',
  sv: '(?:med )?(?:vänliga?|bästa|varma|hjärtliga|soliga) hälsning(?:ar)?|vänligen|högaktningsfullt',
  pl: [
    'z (?:poważaniem|uszanowaniem|wyrazami szacunku|(?:serdecznymi )?pozdrowieniami)',
    '(?:serdecznie )?pozdrawiam(?: serdecznie)?|(?:łączę |serdeczne )?pozdrowienia|łączę wyrazy szacunku|pozdr\\.?',
  ],
  cs: 's (?:přátelským |srdečným )?pozdravem|s úctou|s přáním (?:hezkého|pěkného) dne',
  sk: 's (?:priateľským )?pozdravom|s úctou',
  ru: 'с (?:глубоким )?уважением|с (?:наилучшими )?пожеланиями|с благодарностью|всего (?:доброго|наилучшего)',
  uk: 'з повагою|з найкращими побажаннями|всього найкращого',
  bg: 'с уважение|(?:сърдечни )?поздрави|с най-добри пожелания',
  el: 'με (?:εκτίμηση|τιμή|(?:φιλικούς|θερμούς|εγκάρδιους) χαιρετισμούς)|φιλικά',
  hu: '(?:(?:szívélyes|baráti|szíves|meleg) )?üdvözlettel|(?:őszinte )?tisztelettel',
  ro: 'cu (?:(?:deosebită )?(?:stimă|considerație)|respect|drag)|(?:cu )?cele mai bune urări|toate cele bune',
  fi: '(?:ystävällisin|parhain|lämpimin) terveisin|kunnioittaen',
  et: '(?:(?:parimate|heade|sõbralike) )?tervitustega|lugupidamisega',
  lt: '(?:nuoširdžiai )?pagarbiai|su pagarba|geriausi linkėjimai',
  lv: 'ar (?:cieņu|sveicieniem|labākajiem novēlējumiem)',
  sl: '(?:lep|lepe|prijazen|lepo) pozdravi?|(?:z|s) (?:lepimi|prijaznimi|spoštljivimi) pozdravi|s spoštovanjem',
  hr: '(?:srdačan|srdačni|lijep|ljubazan|lep|puno) pozdravi?|s(?:a)? (?:po)?štovanjem|srdačno',
  tr: 'saygılar(?:ımla|ımızla)|en iyi dileklerim(?:le|izle)|[iİ]yi çalışmalar(?: dilerim)?',
  ca: '(?:una )?salutació(?: molt)? cordial|salutacions(?: cordials)?|cordialment|atentament',
};

/** Ends a message too, but is said within one as well. */
const SHORT_CLOSINGS: ByLanguage = {
  en: [
    '(?:thanks|thank you|thx)(?: (?:a lot|so much|very much|again))?(?: in advance)?',
    'best(?=\\W*$)|have a (?:nice|good|great) day',
  ],
  de: [
    '(?:(?:vielen|besten|herzlichen|schönen|lieben) dank|danke?(?:schön| schön| sehr)?)(?: im voraus| vorab)?',
    `${GRUSS}|(?:einen )?schöne[ns] (?:tag|abend|wochenende)(?: noch)?`,
  ],
  fr: [
    "(?:un grand )?merci(?: (?:beaucoup|bien|d[’']avance|par avance|encore))?|salutations|à bientôt",
    '(?:belle|excellente) (?:journée|soirée)|bon(?:ne)? (?:week-?end|semaine)',
  ],
  es: '(?:muchas |mil )?gracias(?: de antemano| por adelantado)?',
  pt: '(?:muito |desde já )?obrigad[oa](?: desde já)?|grat[oa]',
  it: [
    '(?:molte |tante )?grazie(?: (?:mille|in anticipo|e saluti|tante))?',
    '(?:tanti |un )?salut[io]|buona? (?:giornata|serata|lavoro)',
  ],
  nl: '(?:alvast |hartelijk )?bedankt|dank (?:u|je)(?: wel)?|bij voorbaat dank|groet(?:en|jes)?',
  da: '(?:mange |tusind )?tak(?: på forhånd)?|på forhånd (?:mange )?tak|hilsen|(?:vh|kh)(?=\\W*$)',
  nb: '(?:mange |tusen )?takk(?: på forhånd)?|på forhånd takk',
  sv: 'tack(?: på förhand| så mycket)?|hälsningar',
  pl: '(?:z góry )?(?:dziękuję|dziękujemy)|dzięki',
  cs: '(?:předem )?(?:děkuji|děkujeme)|díky|zdravím|hezký den',
};

const NAMES =
  "(?:(?:aus|from|vom|von|de|desde|do|da|dalla|uit|fra|från|z) )?(?:(?:\\p{Lu}[\\p{L}.'’-]{0,30}|i\\. ?[AV]\\.|und|and|et|y|e|&|von|van|de)(?:[\\s,!.]+|$)){1,5}";
const AFTER_CLOSING = new RegExp(`^(?:[^\\p{L}\\p{N}?]*|[,.!–-]*\\s[\\s–-]*${NAMES})$`, 'u');
const IS_CLOSING = matchStart(CLOSINGS);
const IS_SHORT_CLOSING = matchStart(SHORT_CLOSINGS);

/** Recognises a line that ends a message, such as "Mit freundlichen Grüßen / Kind regards" or "Regards, Jane Doe". */
export function isClosing(text: string): boolean {
  return text.length <= MAX_CLOSING_CHARS && text.split(/[/|]/).every((part) => startsWithClosing(part, IS_CLOSING));
}

/** Recognises a line such as "Gracias" or "Grüße, Max", which ends a message unless more of it follows. */
export function isShortClosing(text: string): boolean {
  return text.length <= MAX_CLOSING_CHARS && startsWithClosing(text, IS_SHORT_CLOSING);
}

function startsWithClosing(part: string, closing: RegExp): boolean {
  const text = part.replace(/^[\s*_~–—-]+/, '').trimEnd();
  const phrase = closing.exec(text)?.[0];
  return phrase !== undefined && AFTER_CLOSING.test(text.slice(phrase.length));
}

function matchStart(table: ByLanguage): RegExp {
  return new RegExp(`^(?:${joined(table)})(?!\\p{L})`, 'iu');
}

function matchWord(table: ByLanguage): RegExp {
  return new RegExp(`(?<![\\p{L}@._’'-])(?:${joined(table)})(?![\\p{L}@._’'-])`, 'iu');
}

function joined(table: ByLanguage): string {
  return Object.values(table).flat().join('|');
}
