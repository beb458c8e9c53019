import { startSmtpReceiver } from '@ticketing/testkit/smtp-receiver.ts';
import { findMarker } from './message-ledger.ts';
import { openRecords } from './record-file.ts';

/**
 * A mail server, as a program: PORT, and the FILE to which it appends what it has accepted. A mail is in the file before the
 * server acknowledges it, so that it outlives the death of this process.
 */
const [port = '', file = ''] = process.argv.slice(2);
const records = openRecords(file);

process.on('disconnect', () => process.exit());
await startSmtpReceiver({
  port: Number(port),
  accept({ bytes }) {
    const text = bytes.toString('latin1');
    const messageId = /^Message-ID: (.*)\r$/im.exec(text)?.[1];
    // The header names other messages in its references.
    records.add([{ messageId, marker: findMarker(text.slice(text.indexOf('\r\n\r\n'))) }]);
  },
});
