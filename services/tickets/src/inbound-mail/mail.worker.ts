import { serveFunctions } from '@ticketing/sandbox/serve-functions.ts';
import { parseMail } from './parse.ts';

const functions = { parseMail };

/** What the worker does with large mails. */
export type MailFunctions = typeof functions;

serveFunctions(functions);
