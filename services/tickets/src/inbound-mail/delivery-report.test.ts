import { expect, test } from 'vitest';
import { deliveryReports, ordinaryMails } from '../../test/delivery-reports.ts';
import { type ReportedRecipient, reportedRecipients } from '../message/rules/delivery-report.ts';
import { readDeliveryReport } from './delivery-report.ts';
import { splitMail } from './mime.ts';

const about = {
  messageId: '<msg_019c1354a3c0ef2d127de37b942baad0@example.org>',
  recipient: 'kim.lee+meter=7@example.com',
  mailbox: 'support@example.org',
};

/** Finds what a mail reports about the recipient of our mail, if it names our mail. */
async function read(mail: string): Promise<ReportedRecipient | undefined> {
  const report = await readDeliveryReport(await splitMail(Buffer.from(mail)));
  if (!report?.messageIds.includes(about.messageId)) return undefined;
  return reportedRecipients(report, [about.recipient, 'other@example.com']).get(about.recipient);
}

test.each(deliveryReports)('a report is read: $name', async ({ mail, isFinal, code }) => {
  const found = await read(mail(about));
  expect(found).toMatchObject({ isFinal, code });
  expect(found?.text).toMatch(/\S/);
});

test.each(ordinaryMails)('an ordinary mail is no report: $name', async ({ mail }) => {
  expect(await read(mail(about))).toBeUndefined();
});

test.each([
  ['Kim <postmaster@firma.example>', 'Meine Bestellung konnte nicht zugestellt werden. lee@firma.example'],
  ['System Administrator <it@firma.example>', 'You have not sent the invoice to lee@firma.example yet.'],
  ['postmaster@firma.example', 'Sorry for the delay, I am lee@firma.example.'],
])('a mail that a person writes from %s is no report', async (from, text) => {
  const mail = `From: ${from}\r\nTo: support@example.org\r\nIn-Reply-To: ${about.messageId}\r\n\r\n${text}\r\n`;
  expect(await readDeliveryReport(await splitMail(Buffer.from(mail)))).toBeNull();
});

test('a report has few ids, addresses and signs, however many a mail names', async () => {
  const many = (line: (at: number) => string) => Array.from({ length: 2_000 }, (_, at) => line(at)).join('\r\n\r\n');
  const long = `${'\u4e00\u4e01\u4e02'.repeat(200)}.example`;
  const status = [
    many((at) => `Final-Recipient: rfc822; a+41${at}@example.com\r\nAction: failed`),
    `Final-Recipient: rfc822; a@${long}\r\nAction: failed`,
    `Final-Recipient: rfc822; "a..b"@example.com\r\nAction: failed\r\nDiagnostic-Code: smtp; ${'x'.repeat(9_000)}`,
    'Final-Recipient: rfc822; a+00@example.com\r\nAction: failed',
  ].reverse();
  const original = many((at) => `Message-ID: <${at}@example.com>`);
  const parts = [status.join('\r\n\r\n'), original].map(
    (text) => `Content-Type: message/delivery-status\r\n\r\n${text}`,
  );
  const mail = `From: MAILER-DAEMON\r\nContent-Type: multipart/report; boundary=r\r\n\r\n--r\r\n${parts.join('\r\n--r\r\n')}\r\n--r--`;
  const report = await readDeliveryReport(await splitMail(Buffer.from(mail)));
  expect(report?.messageIds).toHaveLength(10);
  expect(report?.recipients).toHaveLength(500);
  const addresses = report?.recipients.flatMap((one) => one.addresses) ?? [];
  expect(addresses).toContain('a..b@example.com');
  expect(addresses.filter((address) => address.length > 320 || /\p{Cc}/u.test(address))).toEqual([]);
  expect(report?.recipients.map(({ text }) => text.length).filter((length) => length > 500)).toEqual([]);
});
