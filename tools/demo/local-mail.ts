import { existsSync, readdirSync, readFileSync } from 'node:fs';
import http from 'node:http';
import https from 'node:https';
import { join } from 'node:path';
import { variableName } from '@ticketing/system/services.ts';
import { certificatesIn } from '@ticketing/testkit/development-certificates.ts';
import { environmentFile } from '../dev/environment-file.ts';
import type { DemoMail } from './demo-mail.ts';

/**
 * Opens the mails of the system that runs on a data folder: it takes them in by RPC, and puts those that it sends into a
 * folder.
 */
export function localMail(dataDir: string, token: string): DemoMail {
  const environment = JSON.parse(readFileSync(environmentFile(dataDir), 'utf8')) as Record<string, string>;
  const port = environment[variableName('tickets', 'HTTP_PORT')];
  const folder = environment[variableName('tickets', 'MAIL_FOLDER')];
  const hasTls = variableName('tickets', 'TLS_CERT_FILE') in environment;
  return {
    async receive(mail) {
      const path = '/ticketing.tickets.v1.MailService/ReceiveMail';
      const body = JSON.stringify({ mail: Buffer.from(mail).toString('base64') });
      const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
      const options = { host: '127.0.0.1', port, path, method: 'POST', headers };
      const text = await new Promise<string>((resolve, reject) => {
        const respond = async (response: http.IncomingMessage) => resolve((await response.toArray()).join(''));
        const request = hasTls
          ? https.request({ ...options, ...clientCertificate(dataDir) }, respond)
          : http.request(options, respond);
        request.once('error', reject).end(body);
      });
      return JSON.parse(text) as Record<string, unknown>;
    },
    async sent(messageId) {
      // The folder is made with its first mail.
      if (folder === undefined || !existsSync(folder)) return undefined;
      for (const name of readdirSync(folder).filter((one) => one.endsWith('.eml'))) {
        const file = join(folder, name);
        const text = readFileSync(file, 'utf8');
        if (text.includes(messageId)) return { place: file, text };
      }
      return undefined;
    },
  };
}

function clientCertificate(dataDir: string) {
  const files = certificatesIn(dataDir);
  return {
    ca: readFileSync(files.caFile),
    cert: readFileSync(files.certFile('gateway')),
    key: readFileSync(files.keyFile('gateway')),
  };
}
