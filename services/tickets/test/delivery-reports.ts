import { createHash } from 'node:crypto';
import { gzipSync } from 'node:zlib';

/** The mail of ours that a report is about. */
export interface ReportedMail {
  /** With its angle brackets. */
  messageId: string;
  /** A recipient of it. */
  recipient: string;
  /** The address of our mailbox, to which the report is sent. */
  mailbox: string;
}

/** A mail that arrives, and what it says. */
export interface ReportFixture {
  name: string;
  /** The raw mail, complete with its headers. Its line ends are CRLF, save where the name says otherwise. */
  mail(about: ReportedMail): string;
  /** Whether the server has given up for good. */
  isFinal: boolean;
  /** The code that the reader is to show: the enhanced status code (5.1.1), else the SMTP code (550), else null. */
  code: string | null;
}

/** A mail that looks like a report, and is none, or says nothing that is to be shown. */
interface OrdinaryMail {
  name: string;
  mail(about: ReportedMail): string;
}

/** A text that depends on the mail. Until a mail is complete, its line ends are LF. */
type Compose = (about: ReportedMail) => string;
type Value = string | Compose;
type Tag<Result> = (strings: TemplateStringsArray, ...values: Value[]) => Result;
/** Completes a draft to a mail. */
type Shape = (draft: Compose) => Compose;

const messageId: Compose = (about) => about.messageId;
const recipient: Compose = (about) => about.recipient;
const mailbox: Compose = (about) => about.mailbox;
/** It got the same mail. */
const otherRecipient = 'robin.other@example.net';
/** Mail to the recipient is forwarded to it. */
const forwardedTo = 'k.berg@forwarded.example.test';
const sam = 'sam.porter@customer.example.net';
const subject = 'Re: Printer on the second floor [#4711]';
const sentAt = 'Mon, 02 Mar 2026 08:15:00 +0000';
const answeredAt = 'Mon, 02 Mar 2026 08:15:07 +0000';
const laterAt = 'Mon, 02 Mar 2026 12:15:31 +0000';
const expiredAt = 'Sat, 07 Mar 2026 08:31:12 +0000';

// Texts and encodings.

function resolve(value: Value, about: ReportedMail): string {
  return typeof value === 'string' ? value : value(about);
}

/** A text without its indentation in this file, which is two spaces more than that of its last line. */
function text(strings: TemplateStringsArray, ...values: Value[]): Compose {
  const end = /\n *$/.exec(strings.at(-1) ?? '')?.[0] ?? '\n';
  const pieces = strings.map((piece) => piece.replaceAll(`${end}  `, '\n'));
  const last = pieces.length - 1;
  pieces[0] = (pieces[0] ?? '').replace(/^\n/, '');
  pieces[last] = (pieces[last] ?? '').replace(/\n *$/, '');
  return (about) => String.raw({ raw: pieces }, ...values.map((value) => resolve(value, about)));
}

function hash(...values: unknown[]): string {
  return createHash('sha256').update(JSON.stringify(values)).digest('hex').slice(0, 24);
}

function hex(byte: number): string {
  return byte.toString(16).toUpperCase().padStart(2, '0');
}

function isAscii(value: string): boolean {
  return Buffer.byteLength(value) === value.length;
}

function quotedPrintable(value: string, charset: BufferEncoding = 'utf8', alsoEncoded = ''): string {
  const rows: string[] = [];
  for (const line of value.split('\n')) {
    let row = '';
    const bytes = Buffer.from(line, charset);
    for (const [index, byte] of bytes.entries()) {
      const character = String.fromCharCode(byte);
      const isSpace = character === ' ' && index < bytes.length - 1;
      const isPlain = isSpace || (byte > 32 && byte < 127 && character !== '=' && !alsoEncoded.includes(character));
      const unit = isPlain ? character : `=${hex(byte)}`;
      if (row.length + unit.length > 75) {
        rows.push(`${row}=`);
        row = '';
      }
      row += unit;
    }
    rows.push(row);
  }
  return rows.join('\n');
}

function base64(bytes: Buffer): string {
  return bytes.toString('base64').replace(/.{76}(?=.)/g, '$&\n');
}

/** RFC 2047. */
function encodedWord(value: string): string {
  return `=?utf-8?B?${Buffer.from(value).toString('base64')}?=`;
}

/** RFC 3461, section 4. */
function xtext(value: string): string {
  const encode = (byte: number) => {
    const character = String.fromCharCode(byte);
    return byte < 33 || byte > 126 || '+='.includes(character) ? `+${hex(byte)}` : character;
  };
  return [...Buffer.from(value)].map(encode).join('');
}

// Parts and mails.

function part(type: string, body: Value, ...fields: string[]): Compose {
  return (about) => [`Content-Type: ${type}`, ...fields, '', resolve(body, about)].join('\n');
}

function inQuotedPrintable(type: string, body: Value, charset?: BufferEncoding, alsoEncoded?: string): Compose {
  const encoded: Compose = (about) => quotedPrintable(resolve(body, about), charset, alsoEncoded);
  return part(type, encoded, 'Content-Transfer-Encoding: quoted-printable');
}

function inBase64(type: string, body: Value, ...fields: string[]): Compose {
  const encoded: Compose = (about) => base64(Buffer.from(resolve(body, about).replaceAll('\n', '\r\n')));
  return part(type, encoded, 'Content-Transfer-Encoding: base64', ...fields);
}

function zipped(type: string, fileName: string, body: Value): Compose {
  const disposition = `Content-Disposition: attachment; filename="${fileName}"`;
  const encoded: Compose = (about) => base64(gzipSync(resolve(body, about)));
  return part(type, encoded, 'Content-Transfer-Encoding: base64', disposition);
}

function html(body: Value): Compose {
  return inQuotedPrintable('text/html; charset=utf-8', text`<html><head></head><body>\n${body}\n</body></html>`);
}

function textPart(body: string): Compose {
  return isAscii(body)
    ? part('text/plain; charset=us-ascii', body)
    : inQuotedPrintable('text/plain; charset=utf-8', body);
}

const typesByFirstField: Record<string, string> = {
  'Reporting-MTA': 'message/delivery-status',
  'Reporting-UA': 'message/disposition-notification',
  'Feedback-Type': 'message/feedback-report',
};

/** A part of a section: one that has no Content-Type is a text or, by its first field, a report. */
function asPart(section: string): Value {
  if (section.startsWith('Content-Type:')) {
    return section;
  }
  const type = typesByFirstField[section.slice(0, section.indexOf(':'))];
  return type === undefined ? textPart(section) : part(type, `${section}\n`);
}

/** The end of a header, with the body. */
function multipart(type: string, ...sections: Value[]): Compose {
  return (about) => {
    const contents = sections.map((section) => resolve(asPart(resolve(section, about)), about));
    const boundary = `=_${hash(contents)}/mx.example.net`;
    const rows = contents.map((content) => `--${boundary}\n${content}\n`);
    return `Content-Type: multipart/${type};\n boundary="${boundary}"\n\n${rows.join('')}--${boundary}--`;
  };
}

/** A mail that is written like a raw one: header fields, an empty line and a body. What each mail has is added. */
function letter(draft: Compose): Compose {
  return (about) => {
    const whole = draft(about);
    const returnPath = /^Return-Path: .*\n/.exec(whole)?.[0] ?? '';
    const headEnd = whole.indexOf('\n\n');
    const head = whole.slice(returnPath.length, headEnd);
    const body = whole.slice(headEnd + 2);
    const date = /^Date: (.*)/m.exec(head)?.[1];
    const hasType = /^Content-Type:/im.test(head);
    return [
      returnPath.trimEnd() || 'Return-Path: <>',
      'Received: from mx.example.net (mx.example.net [192.0.2.25])',
      `\tby mail.example.com with ESMTPS for <${about.mailbox}>; ${date ?? answeredAt}`,
      `To: ${about.mailbox}`,
      ...(date === undefined ? [`Date: ${answeredAt}`] : []),
      `Message-ID: <${hash(about, whole)}@mx.example.net>`,
      ...(hasType || !isAscii(body) ? ['MIME-Version: 1.0'] : []),
      head,
      hasType || isAscii(body) ? `\n${body}` : resolve(textPart(body), about),
      '',
    ].join('\n');
  };
}

/** A mail of parts: a line of %% separates its header and each part. More parts may come after those. */
function parts(type: string, ...more: Value[]): Shape {
  return (draft) =>
    letter((about) => {
      const [head = '', ...sections] = draft(about).split('\n%%\n');
      return `${head}\n${multipart(type, ...sections, ...more)(about)}`;
    });
}

function withLineEnds(lineEnd: string, mail: Compose): Compose {
  return (about) => mail(about).replaceAll('\n', lineEnd);
}

function failed(name: string, code: string | null, shape: Shape, lineEnd = '\r\n'): Tag<ReportFixture> {
  return (...draft) => ({ name, isFinal: true, code, mail: withLineEnds(lineEnd, shape(text(...draft))) });
}

function delayed(name: string, code: string | null, shape: Shape): Tag<ReportFixture> {
  return (...draft) => ({ name, isFinal: false, code, mail: withLineEnds('\r\n', shape(text(...draft))) });
}

function ordinary(name: string, shape: Shape): Tag<OrdinaryMail> {
  return (...draft) => ({ name, mail: withLineEnds('\r\n', shape(text(...draft))) });
}

// The mail that the reports are about.

const answers = text`In-Reply-To: ${messageId}\nReferences: ${messageId}`;

function headWith(idField: Value, to: Value = recipient): Compose {
  return text`
    Received: from desk.example.com (desk.example.com [192.0.2.10])
     by mx.example.net with ESMTPS id 4D2C11A0F; ${sentAt}
    Date: ${sentAt}
    From: Service Desk <${mailbox}>
    To: ${to}
    Subject: ${subject}
    ${idField}
    MIME-Version: 1.0
    Content-Type: text/plain; charset=us-ascii
    Content-Transfer-Encoding: 7bit
  `;
}

function withBody(head: Value): Compose {
  return text`
    ${head}

    Hello,

    the technician comes on Thursday at ten. Please clear the desk next to it.

    Your service desk
  `;
}

const idField = text`Message-ID: ${messageId}`;
const originalHead = headWith(idField);
const original = withBody(originalHead);
const returned = part('message/rfc822', original);
const returnedHead = part('text/rfc822-headers', text`${originalHead}\n`);

const reportType = 'report; report-type=delivery-status';
/** Reports with the whole original, with its header, and with nothing of it. */
const report = parts(reportType, returned);
const reportWithHead = parts(reportType, returnedHead);
const reportAlone = parts(reportType);

// Postfix, on which several gateways are built.

const postfixHead = text`
  From: MAILER-DAEMON@mx.example.net (Mail Delivery System)
  Subject: Undelivered Mail Returned to Sender
  Auto-Submitted: auto-replied
`;

const postfixText = text`
  This is the mail system at host mx.example.net.

  I'm sorry to have to inform you that your message could not
  be delivered to one or more recipients. It's attached below.

                     The mail system
`;

const postfixSuccessText = text`
  This is the mail system at host mx.example.net.

  Your message was successfully delivered to the destination(s)
  listed below. If the message was delivered to mailbox you will
  receive no further notifications. Otherwise you may still receive
  notifications of mail delivery errors from other systems.
`;

const postfixMessage = text`
  Reporting-MTA: dns; mx.example.net
  X-Postfix-Queue-ID: 4D2C11A0F
  X-Postfix-Sender: rfc822; ${mailbox}
  Arrival-Date: ${sentAt}
`;

function postfixUnknown(address: Value): Compose {
  return text`
    ${postfixMessage}

    Final-Recipient: rfc822; ${address}
    Original-Recipient: rfc822;${address}
    Action: failed
    Status: 5.1.1
    Remote-MTA: dns; mail.example.org
    Diagnostic-Code: smtp; 550 5.1.1 <${address}>: Recipient address rejected:
        User unknown in virtual mailbox table
  `;
}

/** A report that an address is unknown, without the header of the mail that it comes in. */
function postfixReportOn(address: Value): Compose {
  const explanation = text`
    ${postfixText}

    <${address}>: host mail.example.org[198.51.100.20] said:
        550 5.1.1 <${address}>: Recipient address rejected:
        User unknown in virtual mailbox table (in reply to RCPT TO command)
  `;
  return multipart(reportType, explanation, postfixUnknown(address), returned);
}

const postfixReport = postfixReportOn(recipient);
const postfixFailure = letter(text`${postfixHead}\n${postfixReport}`);

export const deliveryReports: readonly ReportFixture[] = [
  failed('Postfix: user unknown, with the whole original', '5.1.1', letter)`
    ${postfixHead}
    ${postfixReport}
  `,
  delayed('Postfix: delayed, still being retried', '4.4.1', reportWithHead)`
    From: MAILER-DAEMON@mx.example.net (Mail Delivery System)
    Subject: Delayed Mail (still being retried)
    Date: ${laterAt}
    Auto-Submitted: auto-replied
    %%
    This is the mail system at host mx.example.net.

    # THIS IS A WARNING ONLY.  YOU DO NOT NEED TO RESEND YOUR MESSAGE. #

    Your message could not be delivered for more than 4 hour(s).
    It will be retried until it is 5 day(s) old.

    <${recipient}>: connect to mail.example.org[198.51.100.20]:25:
        Connection timed out
    %%
    ${postfixMessage}

    Final-Recipient: rfc822; ${recipient}
    Original-Recipient: rfc822;${recipient}
    Action: delayed
    Status: 4.4.1
    Diagnostic-Code: X-Postfix; connect to mail.example.org[198.51.100.20]:25:
        Connection timed out
    Will-Retry-Until: ${expiredAt}
  `,
  failed('Postfix: host not found, with the header of the original only', '5.4.4', reportWithHead)`
    ${postfixHead}
    %%
    ${postfixText}

    <${recipient}>: Host or domain name not found. Name service error for
        name=mail.example.org type=AAAA: Host not found
    %%
    ${postfixMessage}

    Final-Recipient: rfc822; ${recipient}
    Original-Recipient: rfc822;${recipient}
    Action: failed
    Status: 5.4.4
    Diagnostic-Code: X-Postfix; Host or domain name not found. Name service error
        for name=mail.example.org type=AAAA: Host not found
  `,
  failed('Postfix: three recipients, of which one failed', '5.2.1', reportAlone)`
    ${postfixHead}
    %%
    ${postfixText}

    <${otherRecipient}>: delivery via relay.example.net[203.0.113.40]:25: 250 2.0.0 Ok:
        queued as 8A1B2C

    <chris.other@example.net>: delivery via virtual: delivered to maildir

    <${recipient}>: host mail.example.org[198.51.100.20] said: 550 5.2.1 The
        mailbox is disabled (in reply to RCPT TO command)
    %%
    ${postfixMessage}

    Final-Recipient: rfc822; ${otherRecipient}
    Original-Recipient: rfc822;${otherRecipient}
    Action: relayed
    Status: 2.0.0
    Remote-MTA: dns; relay.example.net
    Diagnostic-Code: smtp; 250 2.0.0 Ok: queued as 8A1B2C

    Final-Recipient: rfc822; chris.other@example.net
    Action: delivered
    Status: 2.0.0
    Diagnostic-Code: X-Postfix; delivered to maildir

    Final-Recipient: rfc822; ${recipient}
    Original-Recipient: rfc822;${recipient}
    Action: failed
    Status: 5.2.1
    Remote-MTA: dns; mail.example.org
    Diagnostic-Code: smtp; 550 5.2.1 The mailbox is disabled
    %%
    ${part(
      'message/rfc822',
      withBody(headWith(idField, text`${otherRecipient}, ${recipient},\n chris.other@example.net`)),
    )}
  `,
  failed('Sendmail: see transcript for details', '5.1.1', report)`
    From: Mail Delivery Subsystem <MAILER-DAEMON@mx.example.net>
    Subject: Returned mail: see transcript for details
    Auto-Submitted: auto-generated (failure)
    %%
    The original message was received at ${sentAt}
    from desk.example.com [192.0.2.10]

       ----- The following addresses had permanent fatal errors -----
    <${recipient}>
        (reason: 550 5.1.1 <${recipient}>... User unknown)

       ----- Transcript of session follows -----
    ... while talking to mail.example.org.:
    >>> DATA
    <<< 550 5.1.1 <${recipient}>... User unknown
    550 5.1.1 <${recipient}>... User unknown
    <<< 503 5.0.0 Need RCPT (recipient)
    %%
    Reporting-MTA: dns; mx.example.net
    Received-From-MTA: DNS; desk.example.com
    Arrival-Date: ${sentAt}

    Final-Recipient: RFC822; ${recipient}
    Action: failed
    Status: 5.1.1
    Remote-MTA: DNS; mail.example.org
    Diagnostic-Code: SMTP; 550 5.1.1 <${recipient}>... User unknown
    Last-Attempt-Date: ${answeredAt}
  `,
  delayed('Sendmail: warning after four hours', '4.4.2', reportWithHead)`
    From: Mail Delivery Subsystem <MAILER-DAEMON@mx.example.net>
    Subject: Warning: could not send message for past 4 hours
    Date: ${laterAt}
    Auto-Submitted: auto-generated (warning-timeout)
    %%
        **      THIS IS A WARNING MESSAGE ONLY      **
        **  YOU DO NOT NEED TO RESEND YOUR MESSAGE  **

    The original message was received at ${sentAt}
    from desk.example.com [192.0.2.10]

       ----- Transcript of session follows -----
    <${recipient}>... Deferred: Connection reset by mail.example.org.
    Warning: message still undelivered after 4 hours
    Will keep trying until message is 5 days old
    %%
    Reporting-MTA: dns; mx.example.net
    Arrival-Date: ${sentAt}

    Final-Recipient: RFC822; ${recipient}
    Action: delayed
    Status: 4.4.2
    Remote-MTA: DNS; mail.example.org
    Last-Attempt-Date: ${laterAt}
    Will-Retry-Until: ${expiredAt}
  `,
  failed('Exim, new: multipart report whose status is generic', '5.1.1', report)`
    From: Mail Delivery System <Mailer-Daemon@mx.example.net>
    Subject: Mail delivery failed: returning message to sender
    X-Failed-Recipients: ${recipient}
    Auto-Submitted: auto-replied
    References: ${messageId}
    %%
    This message was created automatically by mail delivery software.

    A message that you sent could not be delivered to one or more of its
    recipients. This is a permanent error. The following address(es) failed:

      ${recipient}
        host mail.example.org [198.51.100.20]
        SMTP error from remote mail server after RCPT TO:<${recipient}>:
        550 5.1.1 Unknown recipient
    %%
    Reporting-MTA: dns; mx.example.net

    Action: failed
    Final-Recipient: rfc822;${recipient}
    Status: 5.0.0
    Remote-MTA: dns; mail.example.org
    Diagnostic-Code: smtp; 550 5.1.1 Unknown recipient
  `,
  failed('Exim, old: text with a copy of the message', '550', letter)`
    From: Mail Delivery System <Mailer-Daemon@mx.example.net>
    Subject: Mail delivery failed: returning message to sender
    X-Failed-Recipients: ${recipient}

    This message was created automatically by mail delivery software.

    A message that you sent could not be delivered to one or more of its
    recipients. This is a permanent error. The following address(es) failed:

      ${recipient}
        SMTP error from remote mail server after RCPT TO:<${recipient}>:
        host mail.example.org [198.51.100.20]: 550 No such user here

    ------ This is a copy of the message, including all the headers. ------

    Return-path: <${mailbox}>
    ${original}
  `,
  delayed('Exim, old: text, delayed for a day', null, letter)`
    From: Mail Delivery System <Mailer-Daemon@mx.example.net>
    Subject: Warning: message 1vW3xY-0002ab-7k delayed 24 hours
    Date: Tue, 03 Mar 2026 08:20:00 +0000
    Auto-Submitted: auto-replied
    References: ${messageId}

    This message was created automatically by mail delivery software.
    A message that you sent has not yet been delivered to one or more of its
    recipients after more than 24 hours on the queue on mx.example.net.

    The message identifier is:     1vW3xY-0002ab-7k
    The subject of the message is: ${subject}
    The date of the message is:    ${sentAt}

    The address to which the message has not yet been delivered is:

      ${recipient}

    No action is required on your part. Delivery attempts will continue for
    some time, and this warning may be repeated at intervals if the message
    remains undelivered. Eventually the mail delivery software will give up,
    and when that happens, the message will be returned to you.
  `,
  failed('qmail: QSBMF text', '5.1.1', letter)`
    From: MAILER-DAEMON@mx.example.net
    Subject: failure notice

    Hi. This is the qmail-send program at mx.example.net.
    I'm afraid I wasn't able to deliver your message to the following addresses.
    This is a permanent error; I've given up. Sorry it didn't work out.

    <${recipient}>:
    Sorry, no mailbox here by that name. (#5.1.1)

    --- Below this line is a copy of the message.

    Return-Path: <${mailbox}>
    Received: (qmail 20481 invoked from network); 2 Mar 2026 08:15:00 -0000
    ${original}
  `,
  failed('Like Yahoo: text, no such account', '554', letter)`
    From: MAILER-DAEMON@mta1.example.net
    Subject: Failure Notice
    Content-Type: text/plain; charset=us-ascii

    Sorry, we were unable to deliver your message to the following address.

    <${recipient}>:
    Remote host said:
    554 delivery error: dd This user doesn't have an account here (${recipient}) [-5] - mta1003.example.org
    [BODY]

    --- Below this line is a copy of the message.

    ${original}
  `,
  failed('Like GMX and 1&1: text with the header of the original', '552', letter)`
    From: "Mail Delivery System" <mailer-daemon@kundenserver.example.net>
    Subject: Mail delivery failed: returning message to sender
    Auto-Submitted: auto-replied
    Content-Type: text/plain; charset=us-ascii

    This message was created automatically by mail delivery software.

    A message that you sent could not be delivered to one or more of
    its recipients. This is a permanent error. The following address
    failed:

    "${recipient}":
    SMTP error from remote server for RCPT TO command, host: mail.example.org (198.51.100.20) reason: 552
    Quota exceeded for this mailbox

    --- The header of the original message is following. ---

    ${originalHead}
  `,
  failed('Exchange on premises: HTML text, expired in the queue', '4.4.7', report)`
    From: Microsoft Outlook <MicrosoftExchange329e71ec88ae4615bbc36ab6ce41109e@ex01.example.net>
    Subject: Undeliverable: ${subject}
    Date: ${expiredAt}
    ${answers}
    Content-Language: en-US
    X-MS-Exchange-Message-Is-Ndr:
    %%
    ${html(text`
      <p><b><font color="#000066" size="3" face="Arial">Delivery has failed to these recipients or groups:
      </font></b></p>
      <p><a href="mailto:${recipient}">Kim Berg</a><br>
      The server has tried to deliver this message, without success, and has stopped trying.</p>
      <p><b>Diagnostic information for administrators:</b></p>
      <p>Generating server: EX01.example.net</p>
      <p>${recipient}<br>#550 4.4.7 QUEUE.Expired; message expired ##</p>
    `)}
    %%
    Reporting-MTA: dns;EX01.example.net
    Received-From-MTA: dns;desk.example.com
    Arrival-Date: ${sentAt}

    Original-Recipient: rfc822;${recipient}
    Final-Recipient: rfc822;${recipient}
    Action: failed
    Status: 4.4.7
    Diagnostic-Code: smtp;550 4.4.7 QUEUE.Expired; message expired
    X-Display-Name: Kim Berg
  `,
  failed('Microsoft 365: recipient not found', '5.1.10', reportWithHead)`
    From: "Microsoft Outlook" <postmaster@tenant.example.net>
    Subject: Undeliverable: ${subject}
    ${answers}
    Content-Language: en-GB
    X-MS-Exchange-Message-Is-Ndr:
    Auto-Submitted: auto-replied
    %%
    ${multipart(
      'alternative; differences=Content-Type',
      text`
        Your message to ${recipient} couldn't be delivered.

        ${recipient} wasn’t found at example.org.

        desk                 Office 365           kim
        Action Required                           Recipient
        Unknown To address

        Status code: 550 5.1.10
      `,
      html(text`<table><tr><td>Your message to <b>${recipient}</b> couldn't be delivered.</td></tr></table>`),
    )}
    %%
    Reporting-MTA: dns;DB9PR01MB0001.mail.example.net
    Received-From-MTA: dns;DB3EUR04FT016.mail.example.net
    Arrival-Date: ${sentAt}

    Final-Recipient: rfc822;${recipient}
    Action: failed
    Status: 5.1.10
    Diagnostic-Code: smtp;550 5.1.10 RESOLVER.ADR.RecipientNotFound; Recipient
     ${recipient} not found by SMTP address lookup
  `,
  failed('Exchange in German: too large, Message-ID of the original folded', '5.2.3', reportAlone)`
    From: ${encodedWord('Postmaster für example.net')} <postmaster@ex02.example.net>
    Subject: Unzustellbar: ${subject}
    Content-Language: de-DE
    X-MS-Exchange-Message-Is-Ndr:
    %%
    ${html(text`
      <p><b>Fehler bei der Nachrichtenzustellung an folgende Empfänger oder Gruppen:</b></p>
      <p><a href="mailto:${recipient}">${recipient}</a><br>
      Diese Nachricht ist für den Empfänger zu groß. Kürzen Sie die Nachricht, oder entfernen Sie Anlagen.</p>
      <p>Diagnoseinformationen für Administratoren:</p>
      <p>Generierender Server: EX02.example.net</p>
      <p>${recipient}<br>Remote Server returned '550 5.2.3 RESOLVER.RST.RecipSizeLimit; message too large for
      this recipient'</p>
    `)}
    %%
    Reporting-MTA: dns;EX02.example.net
    Received-From-MTA: dns;EX01.example.net
    Arrival-Date: ${sentAt}

    Final-Recipient: rfc822;${recipient}
    Action: failed
    Status: 5.2.3
    Diagnostic-Code: smtp;550 5.2.3 RESOLVER.RST.RecipSizeLimit; message too large
     for this recipient
    %%
    ${part('message/rfc822', withBody(headWith(text`Message-ID:\n\t${messageId}`)))}
  `,
  failed('Gmail: address not found', '5.1.1', report)`
    From: Mail Delivery Subsystem <mailer-daemon@gmail.example.net>
    Subject: Delivery Status Notification (Failure)
    X-Failed-Recipients: ${recipient}
    Auto-Submitted: auto-replied
    ${answers}
    %%
    ${multipart(
      'related',
      multipart(
        'alternative',
        text`
          ** Address not found **

          Your message wasn't delivered to ${recipient} because the address couldn't be found, or is
          unable to receive mail.

          The response was:

          550 5.1.1 The email account that you tried to reach does not exist. For more information, go to
          https://support.example.net/?p=NoSuchUser d9443c01a7336-2a1b2c3d4e5sor123.4 - gsmtp
        `,
        html(text`<h1>Address not found</h1><p>Your message wasn't delivered to <b>${recipient}</b>.</p>`),
      ),
      part('image/png; name="icon.png"', 'iVBORw0KGgo=', 'Content-Transfer-Encoding: base64', 'Content-ID: <icon.png>'),
    )}
    %%
    Reporting-MTA: dns; gmail.example.net
    Arrival-Date: ${sentAt}
    X-Original-Message-ID: ${messageId}

    Final-Recipient: rfc822; ${recipient}
    Action: failed
    Status: 5.1.1
    Remote-MTA: dns; mail.example.org. (198.51.100.20, the server for the domain.)
    Diagnostic-Code: smtp; 550-5.1.1 The email account that you tried to reach does not exist. Please try
     550-5.1.1 double-checking the recipient's email address for typos or
     550-5.1.1 unnecessary spaces. For more information, go to
     550 5.1.1  https://support.example.net/?p=NoSuchUser d9443c01a7336-2a1b2c3d4e5sor123.4 - gsmtp
    Last-Attempt-Date: ${answeredAt}
  `,
  delayed('Gmail: delivery incomplete, X-Original-Message-ID and no original', '4.4.1', reportAlone)`
    From: Mail Delivery Subsystem <mailer-daemon@gmail.example.net>
    Subject: Delivery Status Notification (Delay)
    Date: ${laterAt}
    X-Failed-Recipients: ${recipient}
    Auto-Submitted: auto-replied
    %%
    ** Delivery incomplete **

    There was a temporary problem delivering your message to ${recipient}. Gmail will retry for
    44 more hours. You'll be notified if the delivery fails permanently.

    The response was:

    The recipient server did not accept our requests to connect. [mail.example.org. 198.51.100.20: timed out]
    %%
    Reporting-MTA: dns; gmail.example.net
    Arrival-Date: ${sentAt}
    X-Original-Message-ID: ${messageId}

    Final-Recipient: rfc822; ${recipient}
    Action: delayed
    Status: 4.4.1
    Diagnostic-Code: smtp; The recipient server did not accept our requests to connect.
     [mail.example.org. 198.51.100.20: timed out]
    Last-Attempt-Date: ${laterAt}
    Will-Retry-Until: Wed, 04 Mar 2026 08:15:00 +0000
  `,
  failed('Amazon SES: access denied', '5.4.1', report)`
    From: MAILER-DAEMON@eu-central-1.ses.example.net
    Subject: Delivery Status Notification (Failure)
    %%
    An error occurred while trying to deliver the mail to the following recipients:
    ${recipient}
    %%
    Reporting-MTA: dns; b224-13.smtp-out.ses.example.net

    Action: failed
    Final-Recipient: rfc822; ${recipient}
    Diagnostic-Code: smtp; 550 5.4.1 Recipient address rejected: Access denied. AS(201806281)
    Status: 5.4.1
  `,
  failed('Like iCloud: mailbox full', '5.2.2', reportWithHead)`
    From: Internet Mail Delivery <postmaster@icloud.example.net>
    Subject: Delivery Notification: Delivery has failed
    Auto-Submitted: auto-replied
    %%
    This report relates to a message you sent with the following header fields:

      Message-id: ${messageId}
      Date: ${sentAt}
      From: Service Desk <${mailbox}>
      To: ${recipient}
      Subject: ${subject}

    Your message cannot be delivered to the following recipients:

      Recipient address: ${recipient}
      Reason: Remote SMTP server has rejected address
      Diagnostic code: smtp;552 5.2.2 <${recipient}>: user is over quota
      Remote system: dns;mail.example.org (TCP|192.0.2.25|43211|198.51.100.20|25) (mail.example.org ESMTP)
    %%
    Reporting-MTA: dns;st11p00im.icloud.example.net (tcp-daemon)

    Original-recipient: rfc822;${recipient}
    Final-recipient: rfc822;${recipient}
    Action: failed
    Status: 5.2.2 (Remote SMTP server has rejected address)
    Remote-MTA: dns;mail.example.org (TCP|192.0.2.25|43211|198.51.100.20|25)
     (mail.example.org ESMTP)
    Diagnostic-code: smtp;552 5.2.2 <${recipient}>: user is over quota
  `,
  failed('Courier: notice of undeliverable mail, whose status is generic', '5.1.1', report)`
    From: "Courier mail server at mx.example.net" <MAILER-DAEMON@mx.example.net>
    Subject: NOTICE: mail delivery status.
    %%
    This is a delivery status notification from mx.example.net,
    running the Courier mail server, version 0.73.

                               UNDELIVERABLE MAIL

    Your message to the following recipients cannot be delivered:

    <${recipient}>:
        mail.example.org [198.51.100.20]:
    >>> RCPT TO:<${recipient}>
    <<< 550 5.1.1 User unknown.
    %%
    Reporting-MTA: dns; mx.example.net
    Arrival-Date: ${sentAt}
    Received-From-MTA: dns; desk.example.com (desk.example.com [::ffff:192.0.2.10])

    Final-Recipient: rfc822; ${recipient}
    Action: failed
    Status: 5.0.0
    Remote-MTA: dns; mail.example.org [198.51.100.20]
    Diagnostic-Code: smtp; 550 5.1.1 User unknown.
  `,
  failed('Lotus Domino: not listed in the directory', '5.1.1', report)`
    From: Postmaster@domino.example.net
    Subject: DELIVERY FAILURE: User ${recipient} not listed in Domino Directory
    X-MIMETrack: Itemize by SMTP Server on DOM01/Example(Release 9.0.1) at 02.03.2026 09:15:07
    %%
    Your message

      Subject: ${subject}

    was not delivered to:

      ${recipient}

    because:

      User ${recipient} not listed in Domino Directory
    %%
    Reporting-MTA: dns;domino.example.net

    Final-Recipient: rfc822;${recipient}
    Action: failed
    Status: 5.1.1
    Diagnostic-Code: X-Notes; User ${recipient} not listed in Domino Directory
  `,
  failed('GroupWise: text with the original attached, no code', null, parts('mixed'))`
    From: <Mailer-Daemon@gw.example.net>
    Subject: Message status - undeliverable
    %%
    The message that you sent was undeliverable to the following:
    \t${recipient} (user not found)

    Possibly truncated original message follows:
    %%
    ${returned}
  `,
  failed('MailEnable: text, Message-ID of the original without angle brackets', '550', letter)`
    From: Postmaster <postmaster@mailenable.example.net>
    Subject: Message Delivery Failure

    MailEnable: Message could not be delivered to some recipients.
    The following recipient(s) could not be reached:

    \tRecipient: [SMTP:${recipient}]
    \tReason: Remote SMTP Server Returned: 550 Requested action not taken: mailbox unavailable


    Message headers follow:

    ${headWith((about) => `Message-ID: ${about.messageId.slice(1, -1)}`)}
  `,
  failed('hMailServer: text with the header of the original', '5.1.1', letter)`
    From: mailer-daemon@hmail.example.net
    Subject: Message undeliverable
    Content-Type: text/plain; charset="utf-8"

    Your message did not reach some or all of the intended recipients.

       Sent: ${sentAt}
       Subject: ${subject}

    The following recipient(s) could not be reached:

    ${recipient}
       Error Type: SMTP
       Remote server (198.51.100.20) issued an error.
       hMailServer sent: RCPT TO:<${recipient}>
       Remote server replied: 550 5.1.1 No such user here

    hMailServer

    The header of the message:

    ${originalHead}
  `,
  failed('IMail: text without a code, LF as line end', null, letter, '\n')`
    From: "Postmaster" <postmaster@imail.example.net>
    Subject: Undeliverable Mail
    X-Mailer: <SMTP32 v8.22>

    Unknown user: ${recipient}

    Original message follows.

    ${original}
  `,
  failed('Zimbra: report in multipart/mixed, for a gateway added a disclaimer', '5.1.1', parts('mixed'))`
    From: MAILER-DAEMON@zimbra.example.net (Mail Delivery System)
    Subject: Undelivered Mail Returned to Sender
    Auto-Submitted: auto-replied
    %%
    ${postfixReport}
    %%
    --
    This e-mail is confidential. If you are not the intended recipient, please inform the sender and delete it.
    Example Ltd – registered in Exampletown
  `,
  failed('OpenSMTPD: error', '5.1.1', report)`
    From: Mailer Daemon <MAILER-DAEMON@mx.example.net>
    Subject: Delivery status notification: error
    %%
        This is the MAILER-DAEMON, please DO NOT REPLY to this email.

        An error has occurred while attempting to deliver a message for
        the following list of recipients:

    ${recipient}: 550 5.1.1 Invalid recipient: <${recipient}>

        Below is a copy of the original message:
    %%
    Reporting-MTA: dns; mx.example.net

    Final-Recipient: rfc822; ${recipient}
    Action: failed
    Status: 5.1.1
  `,
  failed('Like Mimecast: the status part is quoted-printable', '5.1.1', reportWithHead)`
    From: "Mail Gateway" <postmaster@eu-smtp.example.net>
    Subject: [Postmaster] Email Delivery Failure
    Auto-Submitted: auto-generated
    %%
    The following message to <${recipient}> was undeliverable.
    The reason for the problem:
    5.1.1 - Bad destination email address 'Invalid Recipient – see the knowledge base'
    %%
    ${inQuotedPrintable(
      'message/delivery-status',
      text`
        Reporting-MTA: dns; eu-smtp-1.example.net
        Arrival-Date: ${sentAt}

        Final-Recipient: rfc822; ${recipient}
        Action: failed
        Status: 5.1.1
        Remote-MTA: dns; mail.example.org
        Diagnostic-Code: smtp; 550 5.1.1 Invalid Recipient - https://kb.example.net/?article=1042 [q7=.eu12]

      `,
      'utf8',
      '@;:-',
    )}
  `,
  failed('Like Proofpoint: addresses in angle brackets', '5.1.1', report)`
    From: Mail Delivery Subsystem <MAILER-DAEMON@mx0a-0012.pphosted.example.net>
    Subject: Undeliverable: see transcript for details
    Auto-Submitted: auto-generated (failure)
    %%
    Your message could not be delivered.

       ----- The following addresses had permanent delivery errors -----
    <${recipient}>

       ----- Transcript of session follows -----
    ... while talking to mail.example.org.:
    >>> RCPT To:<${recipient}>
    <<< 550 5.1.1 User Unknown
    %%
    Reporting-MTA: dns; mx0a-0012.pphosted.example.net
    Arrival-Date: ${sentAt}

    Original-Recipient: rfc822;<${recipient}>
    Final-Recipient: rfc822; <${recipient}>
    Action: failed
    Status: 5.1.1
    Diagnostic-Code: smtp; 550 5.1.1 User Unknown
  `,
  failed('Like Barracuda: blocked as spam', '5.7.1', reportWithHead)`
    From: Mail Delivery System <MAILER-DAEMON@barracuda.example.net>
    Subject: **Message you sent blocked by our bulk email filter**
    %%
    Your message to: ${recipient}
    was blocked by our Spam Firewall. The email you sent with the following subject
    has NOT BEEN DELIVERED:

    Subject: ${subject}
    %%
    Reporting-MTA: dns; barracuda.example.net
    Received-From-MTA: smtp; desk.example.com ([192.0.2.10])
    Arrival-Date: ${sentAt}

    Final-Recipient: rfc822; ${recipient}
    Action: failed
    Status: 5.7.1
    Diagnostic-Code: smtp; 550 5.7.1 Message content rejected, UBE, id=20481-01-3
    Last-Attempt-Date: ${answeredAt}
  `,
  failed('Internationalized report (RFC 6533), base64', '5.6.7', parts('report; report-type=global-delivery-status'))`
    ${postfixHead}
    %%
    This is the mail system at host mx.example.net.

    <${recipient}>: host mail.example.org[198.51.100.20] said: 553 5.6.7
        Non-ASCII addresses not permitted – Adresse nicht zulässig
    %%
    ${inBase64(
      'message/global-delivery-status; charset=utf-8',
      text`
        Reporting-MTA: dns; mx.example.net
        Arrival-Date: ${sentAt}

        Final-Recipient: utf-8; ${recipient}
        Original-Recipient: utf-8;${recipient}
        Action: failed
        Status: 5.6.7
        Remote-MTA: dns; mail.example.org
        Diagnostic-Code: smtp; 553 5.6.7 Non-ASCII addresses not permitted – Adresse nicht zulässig

      `,
    )}
    %%
    ${inBase64('message/global-headers', text`${originalHead}\n`)}
  `,
  failed('Gateway: the report as message/rfc822 in a mail of its mail daemon', '5.1.1', parts('mixed'))`
    From: MAILER-DAEMON <MAILER-DAEMON@gateway.example.net>
    Subject: Undelivered Mail Returned to Sender
    Auto-Submitted: auto-generated
    %%
    The mail gateway has received the attached report for you.
    %%
    ${part('message/rfc822', postfixFailure, 'Content-Disposition: attachment; filename="report.eml"')}
  `,
  failed('Appliance: no original, In-Reply-To and References name the mail', '5.1.2', reportAlone)`
    From: Mail Delivery System <MAILER-DAEMON@appliance.example.net>
    Subject: Delivery failure
    Auto-Submitted: auto-replied
    ${answers}
    %%
    Your message could not be delivered to:

      ${recipient}

    The domain of the address does not accept mail.
    %%
    Reporting-MTA: dns; appliance.example.net

    Final-Recipient: rfc822; ${recipient}
    Action: failed
    Status: 5.1.2
  `,
  failed('Forwarded: Original-Recipient is ours, Final-Recipient is not', '5.2.2', report)`
    ${postfixHead}
    %%
    ${postfixText}

    <${forwardedTo}> (expanded from <${recipient}>): host
        mail.example.test[203.0.113.77] said: 552 5.2.2 Mailbox full (in reply to
        end of DATA command)
    %%
    ${postfixMessage}

    Final-Recipient: rfc822; ${forwardedTo}
    Original-Recipient: rfc822;${recipient}
    Action: failed
    Status: 5.2.2
    Remote-MTA: dns; mail.example.test
    Diagnostic-Code: smtp; 552 5.2.2 Mailbox full
  `,
  failed('Forwarded: Original-Recipient in xtext', '5.1.6', reportWithHead)`
    From: Mail Delivery Subsystem <MAILER-DAEMON@relay.example.net>
    Subject: Returned mail: see transcript for details
    Auto-Submitted: auto-generated (failure)
    %%
    The original message was received at ${sentAt}

       ----- The following addresses had permanent fatal errors -----
    <${forwardedTo}>
        (reason: 551 5.1.6 User has moved, no forwarding address)
    %%
    Reporting-MTA: dns; relay.example.net
    Arrival-Date: ${sentAt}

    Original-Recipient: rfc822;${(about) => xtext(about.recipient)}
    Final-Recipient: RFC822; ${forwardedTo}
    Action: failed
    Status: 5.1.6
    Remote-MTA: DNS; mail.example.test
    Diagnostic-Code: SMTP; 551 5.1.6 User has moved, no forwarding address
  `,
  failed('Folded and oddly cased fields', '5.1.1', letter)`
    From: mailer-daemon@ODD.example.net
    Subject: UNDELIVERABLE MAIL
    auto-submitted:
     AUTO-REPLIED
    CONTENT-TYPE: Multipart/REPORT;
    \tREPORT-TYPE="Delivery-Status";
    \tBOUNDARY="ODD_77"

    --ODD_77
    CONTENT-TYPE: TEXT/PLAIN

    MAIL COULD NOT BE DELIVERED.

    --ODD_77
    content-type: MESSAGE/Delivery-Status

    REPORTING-MTA:DNS;ODD.example.net
    ARRIVAL-DATE:
     ${sentAt}


    FINAL-RECIPIENT:
    \tRFC822;
     ${recipient}
    aCTION:\tFAILED
    STATUS:
      5.1.1
    DIAGNOSTIC-CODE:SMTP;
     550
     5.1.1 NO SUCH
    \tUSER

    --ODD_77
    content-TYPE: Message/RFC822

    ${withBody(headWith(text`MESSAGE-id:${messageId}`))}

    --ODD_77--
  `,
  failed('Sloppy: addresses without a type, and no Action', '5.1.1', report)`
    From: postmaster@sloppy.example.net
    Subject: Mail failure
    %%
    Your mail has come back. See the details.
    %%
    Reporting-MTA: sloppy.example.net

    Original-Recipient: ${recipient}
    Final-Recipient: ${recipient}
    Status: 5.1.1
    Diagnostic-Code: 550 5.1.1 unknown user
  `,
  failed('French: text', '5.1.1', letter)`
    From: MAILER-DAEMON@courrier.example.net
    Subject: ${encodedWord('Échec de la remise du message')}
    Auto-Submitted: auto-replied

    Bonjour, ceci est le serveur de messagerie courrier.example.net.

    Votre message n'a pas pu être remis au destinataire suivant. Il s'agit d'une erreur définitive :

      <${recipient}>
      Le serveur distant a répondu : 550 5.1.1 Utilisateur inconnu

    ----- En-têtes du message d'origine -----

    ${originalHead}
  `,
  failed('Spanish: text in ISO 8859-1', '550', letter)`
    From: "Administrador de correo" <postmaster@correo.example.net>
    Subject: =?iso-8859-1?Q?Mensaje_no_entregado=3A_direcci=F3n_desconocida?=
    ${inQuotedPrintable(
      'text/plain; charset=iso-8859-1',
      text`
        Su mensaje no se ha podido entregar a la siguiente dirección:

            ${recipient}

        El servidor de destino respondió: 550 Usuario desconocido

        No se harán más intentos de entrega.

        --- Cabeceras del mensaje original ---

        ${originalHead}
      `,
      'latin1',
    )}
  `,
  failed('Italian: text in base64, mailbox full', '5.2.2', letter)`
    From: Sistema di posta <MAILER-DAEMON@posta.example.net>
    Subject: Messaggio non consegnato
    Auto-Submitted: auto-generated
    ${inBase64(
      'text/plain; charset="UTF-8"',
      text`
        Non è stato possibile consegnare il messaggio al seguente destinatario:

          ${recipient}

        Il server remoto ha risposto:
        552 5.2.2 La casella di posta del destinatario è piena

        Si tratta di un errore permanente: il messaggio non verrà più inviato.

        ---- Intestazioni del messaggio originale ----

        ${originalHead}
      `,
    )}
  `,
];

// Mails that must change nothing.

/** The header of a mail that a person has written. */
function byPerson(line: string): string {
  return `Return-Path: <${sam}>\nFrom: Sam Porter <${sam}>\nDate: ${laterAt}\nSubject: ${line}`;
}

/** The header of an answer that the recipient or its program has written. */
function byRecipient(line: string): Compose {
  return text`From: Kim Berg <${recipient}>\nDate: ${laterAt}\nSubject: ${line}\n${answers}`;
}

export const ordinaryMails: readonly OrdinaryMail[] = [
  ordinary('Person: quotes the text of a bounce, and has its subject', letter)`
    ${byPerson('Undelivered Mail Returned to Sender')}
    ${answers}

    Hello service desk,

    when I answered all, this came back. Is the address of Kim still right?

    > This is the mail system at host mx.example.net.
    >
    > I'm sorry to have to inform you that your message could not
    > be delivered to one or more recipients. It's attached below.
    >
    > <${recipient}>: host mail.example.org[198.51.100.20] said:
    >     550 5.1.1 <${recipient}>: User unknown

    Regards
    Sam
  `,
  ordinary('Person: forwards a bounce inline', letter)`
    ${byPerson('Fwd: Delivery Status Notification (Failure)')}

    Please have a look at this – what shall I do?

    ---------- Forwarded message ---------
    From: Mail Delivery Subsystem <mailer-daemon@gmail.example.net>
    Date: ${answeredAt}
    Subject: Delivery Status Notification (Failure)
    To: <${sam}>

    ** Address not found **

    Your message wasn't delivered to ${recipient} because the address couldn't be found.

    Reporting-MTA: dns; gmail.example.net
    X-Original-Message-ID: ${messageId}

    Final-Recipient: rfc822; ${recipient}
    Action: failed
    Status: 5.1.1
    Diagnostic-Code: smtp; 550 5.1.1 The email account that you tried to reach does not exist.

    ----- Original message -----

    ${originalHead}
  `,
  ordinary('Person: forwards a bounce as an attachment', parts('mixed'))`
    ${byPerson('Fwd: Undelivered Mail Returned to Sender')}
    %%
    Hello, I got the attached mail. Does it concern you?

    Sam
    %%
    ${part('message/rfc822', postfixFailure, 'Content-Disposition: attachment; filename="Undelivered Mail.eml"')}
  `,
  ordinary('Out of office: Sieve vacation with the null return path', letter)`
    ${byRecipient(`Auto: ${subject}`)}
    Auto-Submitted: auto-replied (vacation)
    Precedence: bulk
    X-Sieve: Pigeonhole Sieve 0.5.21

    I am away until 16 March and cannot answer mail to ${recipient}. Your message will not be forwarded.

    Kim Berg
  `,
  ordinary('Out of office: Exchange in German', parts('alternative'))`
    ${byRecipient(`Automatische Antwort: ${subject}`)}
    X-Auto-Response-Suppress: All
    Auto-Submitted: auto-generated
    Content-Language: de-DE
    %%
    Guten Tag,

    ich bin bis zum 16. März nicht im Büro. Ihre Nachricht wird nicht weitergeleitet.
    In dringenden Fällen schreiben Sie bitte an ${otherRecipient}.

    Kim Berg
    %%
    ${html(text`<p>Guten Tag,</p><p>ich bin bis zum 16. März nicht im Büro.</p><p>${recipient}</p>`)}
  `,
  ordinary('Out of office: French, with the mail quoted', letter)`
    Return-Path: <${recipient}>
    ${byRecipient(encodedWord('Réponse automatique : absence'))}
    Auto-Submitted: auto-replied

    Bonjour,

    je suis absent jusqu'au 16 mars et votre message ne pourra pas être traité avant cette date.

    Le 2 mars 2026, ${mailbox} a écrit :
    > Date: ${sentAt}
    > To: ${recipient}
    > Message-ID: ${messageId}
    > the technician comes on Thursday at ten.
  `,
  ordinary('Read receipt: displayed', parts('report; report-type=disposition-notification'))`
    Return-Path: <${recipient}>
    ${byRecipient(`Read: ${subject}`)}
    %%
    This is a return receipt for the mail that you sent to ${recipient}.

    Note: it says only that the mail was displayed on the recipient's machine.
    %%
    Reporting-UA: kims-laptop.example.org; Example Mail 4.4.7
    Final-Recipient: rfc822;${recipient}
    Original-Message-ID: ${messageId}
    Disposition: manual-action/MDN-sent-manually; displayed
    %%
    ${returnedHead}
  `,
  ordinary('Read receipt: deleted without being read', parts('report; report-type=disposition-notification'))`
    ${byRecipient(`Not read: ${subject}`)}
    Auto-Submitted: auto-replied
    %%
    Your message to ${recipient} was deleted without being read on ${laterAt}.
    %%
    Reporting-UA: kims-laptop.example.org; Example Mail 4.4.7
    Original-Recipient: rfc822;${recipient}
    Final-Recipient: rfc822;${recipient}
    Original-Message-ID: ${messageId}
    Disposition: automatic-action/MDN-sent-automatically; deleted
  `,
  ordinary('Feedback report: complaint about spam (ARF)', parts('report; report-type=feedback-report'))`
    From: Feedback Loop <feedback@abuse.example.net>
    Subject: FW: ${subject}
    Date: ${laterAt}
    %%
    This is an email abuse report for a message that was received from 192.0.2.10.
    %%
    Feedback-Type: abuse
    User-Agent: ExampleFeedback/5.1.1
    Version: 1
    Original-Mail-From: <${mailbox}>
    Original-Rcpt-To: <${recipient}>
    Arrival-Date: ${sentAt}
    Source-IP: 192.0.2.10
    %%
    ${returned}
  `,
  ordinary('DMARC aggregate report', parts('mixed'))`
    From: DMARC Reports <noreply-dmarc@reports.example.net>
    Subject: Report Domain: example.com Submitter: example.net Report-ID: <2026.03.02.4711@example.net>
    Date: ${laterAt}
    Auto-Submitted: auto-generated
    %%
    This is a DMARC aggregate report for example.com.
    Contact: ${recipient}
    %%
    ${zipped(
      'application/gzip',
      'example.net!example.com!1772323200!1772409599.xml.gz',
      text`
        <?xml version="1.0" encoding="UTF-8"?>
        <feedback><report_metadata><org_name>example.net</org_name><email>${recipient}</email>
        <report_id>2026.03.02.4711</report_id></report_metadata>
        <record><row><source_ip>192.0.2.10</source_ip><count>3</count><policy_evaluated>
        <disposition>reject</disposition><dkim>fail</dkim><spf>fail</spf>
        </policy_evaluated></row></record></feedback>
      `,
    )}
  `,
  ordinary('TLS-RPT report', parts('report; report-type="tlsrpt"'))`
    From: postmaster@tlsrpt.example.net
    Subject: Report Domain: example.com Submitter: example.net Report-ID: <2026-03-02T00:00:00Z@example.net>
    Date: ${laterAt}
    TLS-Report-Domain: example.com
    TLS-Report-Submitter: example.net
    %%
    This is an aggregate TLS report from example.net. Contact: ${recipient}
    %%
    ${zipped(
      'application/tlsrpt+gzip',
      'example.net!example.com!1772323200!1772409599.json.gz',
      text`
        {"organization-name":"example.net","contact-info":"${recipient}","report-id":"2026-03-02T00:00:00Z",
        "policies":[{"policy":{"policy-type":"sts","policy-domain":"example.com"},
        "summary":{"total-successful-session-count":5,"total-failure-session-count":1},
        "failure-details":[{"result-type":"certificate-expired","failed-session-count":1}]}]}
      `,
    )}
  `,
  ordinary('Success report: delivered', reportWithHead)`
    From: MAILER-DAEMON@mx.example.net (Mail Delivery System)
    Subject: Successful Mail Delivery Report
    Auto-Submitted: auto-replied
    %%
    ${postfixSuccessText}

    <${recipient}>: delivery via mail.example.org[198.51.100.20]:25: 250 2.1.5
        Delivered
    %%
    ${postfixMessage}

    Final-Recipient: rfc822; ${recipient}
    Original-Recipient: rfc822;${recipient}
    Action: delivered
    Status: 2.1.5
    Remote-MTA: dns; mail.example.org
    Diagnostic-Code: smtp; 250 2.1.5 Delivered
  `,
  ordinary('Success report: expanded and relayed', reportWithHead)`
    From: MAILER-DAEMON@mx.example.net (Mail Delivery System)
    Subject: Successful Mail Delivery Report
    Auto-Submitted: auto-replied
    %%
    ${postfixSuccessText}

    <${recipient}>: alias expanded

    <${forwardedTo}> (expanded from <${recipient}>): delivery via
        mail.example.test[203.0.113.77]:25: 250 2.0.0 Ok: queued as 4C550511
    %%
    ${postfixMessage}

    Final-Recipient: rfc822; ${recipient}
    Original-Recipient: rfc822;${recipient}
    Action: expanded
    Status: 2.0.0
    Diagnostic-Code: X-Postfix; alias expanded

    Final-Recipient: rfc822; ${forwardedTo}
    Original-Recipient: rfc822;${recipient}
    Action: relayed
    Status: 2.0.0
    Remote-MTA: dns; mail.example.test
    Diagnostic-Code: smtp; 250 2.0.0 Ok: queued as 4C550511
  `,
  ordinary('Success report: text', letter)`
    From: MAILER-DAEMON@mx.example.net
    Subject: Delivery report

    This message was created automatically by mail delivery software.

    Your message was successfully delivered to the following address:

      ${recipient}
        250 2.0.0 Message accepted for delivery

    ------ The header of the message follows. ------

    ${originalHead}
  `,
  ordinary('Mailing list: awaits moderator approval', letter)`
    Return-Path: <staff-bounces@lists.example.org>
    From: staff-owner@lists.example.org
    Subject: Your message to Staff awaits moderator approval
    Precedence: bulk
    X-List-Administrivia: yes
    Auto-Submitted: auto-generated
    ${answers}

    Your mail to '${recipient}' with the subject

        ${subject}

    Is being held until the list moderator can review it for approval.

    The reason it is being held:

        Post by non-member to a members-only list

    Either the message will get posted to the list, or you will receive
    notification of the moderator's decision.
  `,
  ordinary('Challenge: please confirm that you are human', letter)`
    From: Mail Guard <confirm-8f3a@guard.example.net>
    Subject: Please confirm that you are human
    Auto-Submitted: auto-replied
    ${answers}

    Your message to ${recipient} is waiting. The recipient gets mail from
    confirmed senders only. Please open this page once, and it will be delivered at once:

        https://guard.example.net/confirm/8f3a

    Your message: ${messageId}
  `,
  ordinary('Postmaster: writes personally about a planned downtime', letter)`
    Return-Path: <postmaster@example.org>
    From: Pat Miller (Postmaster) <postmaster@example.org>
    Subject: Planned downtime of our mail server on Saturday
    Date: ${laterAt}
    ${answers}

    Dear colleagues,

    on Saturday, 14 March, our mail server is down from 8 to 12. Mail to ${recipient} and everybody
    else here will be delayed then: your server will see 451 4.3.2 and should simply try again.

    Kind regards
    Pat Miller
  `,
  ordinary('Newsletter: about deliverability and status codes', parts('alternative'))`
    Return-Path: <bounce-4711@newsletter.example.net>
    From: Inbox Weekly <news@newsletter.example.net>
    Subject: Undeliverable? What 5.1.1, 5.2.2 and 4.4.7 really mean
    List-Unsubscribe: <https://newsletter.example.net/unsubscribe/4711>
    Precedence: bulk
    %%
    Inbox Weekly – recommended to you by ${recipient}

    "Delivery has failed to these recipients": three codes that you should know.

    550 5.1.1  User unknown. The address does not exist; remove it.
    552 5.2.2  Mailbox full. Try again in a week.
    4.4.7      Message expired. The server has stopped trying.

    Action: failed and Status: 5.1.1 in a report mean that it is final.
    %%
    ${html('<h1>Undeliverable?</h1><p><b>550 5.1.1</b> User unknown. The address does not exist; remove it.</p>')}
  `,
  ordinary('Customer: answers that a mail to the recipient failed', letter)`
    ${byPerson(subject)}
    ${answers}

    Hi,

    thanks. By the way: my mail to ${recipient} failed with 550 5.1.1. Could you tell Kim?

    Sam

    On Mon, 2 Mar 2026, Service Desk wrote:
    > the technician comes on Thursday at ten.
  `,
  ordinary('Other help desk: ticket received', letter)`
    From: Example Org Support <support@helpdesk.example.org>
    Subject: [Ticket 550511] We have received your request
    Auto-Submitted: auto-replied
    X-Auto-Response-Suppress: All
    ${answers}

    ## Please write above this line ##

    Your request (550511) has been received and is being looked at by our team.

    Subject:    ${subject}
    Sent to:    ${recipient}
    Message-ID: ${messageId}
  `,
  ordinary('Report on an address that the mail was not sent to', letter)`
    ${postfixHead}
    ${postfixReportOn('nobody.we.know@elsewhere.example.test')}
  `,
  ordinary('Report on a mail that is not ours', letter)`
    ${postfixHead}
    ${(about) => postfixReport({ ...about, messageId: '<20260302.somebody.else.1@other.example.test>' })}
  `,
  ordinary('Report with an empty status part', reportWithHead)`
    From: Mail Delivery System <MAILER-DAEMON@mx.example.net>
    Subject: Mail delivery report
    %%
    This is a report on your message.
    %%
    ${part('message/delivery-status', '')}
  `,
  ordinary('Person: passes on a report, whose boundary is broken thereby', letter)`
    ${byPerson('Report from our server')}
    ${(about) => postfixReport(about).replace(/boundary="[^"]*"/, 'boundary="----=_lost_0001"')}
  `,
  ordinary('Virus scanner: an attachment was removed', letter)`
    From: "MailScanner" <postmaster@scanner.example.net>
    Subject: Warning: E-mail viruses detected
    Auto-Submitted: auto-generated

    Our virus detector has just been triggered by a message you sent:

      To: ${recipient}
      Subject: ${subject}
      Date: ${sentAt}
      Message-ID: ${messageId}

    The attachment "invoice.zip" was removed. The message itself has been delivered without it.

    The virus detector said this about the message:
      Report: Test-Signature found in invoice.zip (engine 5.1.1)

    --
    MailScanner, Email Virus Scanner
  `,
  ordinary('Calendar: declined', parts('alternative'))`
    Return-Path: <${recipient}>
    ${byRecipient('Declined: Visit of the technician')}
    %%
    ${recipient} has declined this invitation: Visit of the technician, Thursday at ten
    %%
    Content-Type: text/calendar; charset=utf-8; method=REPLY

    BEGIN:VCALENDAR
    VERSION:2.0
    PRODID:-//Example//Calendar 5.1.1//EN
    METHOD:REPLY
    BEGIN:VEVENT
    UID:20260305T100000Z-4711@example.com
    DTSTAMP:20260302T121531Z
    DTSTART:20260305T100000Z
    ORGANIZER:mailto:${mailbox}
    ATTENDEE;PARTSTAT=DECLINED:mailto:${recipient}
    REQUEST-STATUS:2.0;Success
    END:VEVENT
    END:VCALENDAR
  `,
  ordinary('SMS gateway: delivery confirmation', letter)`
    From: SMS Gateway <sms-gateway@sms.example.net>
    Subject: Delivery confirmation
    Auto-Submitted: auto-generated
    ${answers}

    Delivery report of the SMS gateway

    Message:   ${messageId}
    Recipient: ${recipient} (number ending in 12)
    Parts:     1 of 1
    Status:    DELIVRD
    Error:     000
  `,
  ordinary('Person: attaches delivery-status.txt', parts('mixed'))`
    ${byPerson('What our server says about your mail')}
    ${answers}
    %%
    Hi, our server has written the attached file when I sent your mail ${messageId} on.

    Sam
    %%
    Content-Type: message/delivery-status; name="delivery-status.txt"
    Content-Disposition: attachment; filename="delivery-status.txt"

    ${postfixUnknown(recipient)}
  `,
  ordinary('Parcel service: delivery failed', letter)`
    Return-Path: <noreply@parcels.example.net>
    From: Parcel Express <noreply@parcels.example.net>
    Subject: Delivery failed: we could not deliver your parcel
    Auto-Submitted: auto-generated

    Hello,

    delivery to the following recipient failed permanently:

      ${recipient}
      Parcel 00340 550 511
      Status: undeliverable – nobody was at home

    The parcel goes back to the sender. Order reference: ${messageId}
  `,
  ordinary('Invoice', parts('mixed'))`
    Return-Path: <billing@hosting.example.net>
    From: Example Hosting Billing <billing@hosting.example.net>
    Subject: Invoice 550-5.1.1 for March 2026
    %%
    Dear customer,

    please find attached your invoice no. 550-5.1.1 for the mailbox ${recipient}.
    If mail to this address is returned to sender, please tell us a new one.
    %%
    ${inBase64('application/pdf', '%PDF-1.4\n%%EOF\n', 'Content-Disposition: attachment; filename="invoice.pdf"')}
  `,
];
