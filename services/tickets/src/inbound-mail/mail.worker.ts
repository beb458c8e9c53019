import { serveFunctions } from '@ticketing/sandbox/serve-functions.ts';
import { parseMail } from './parse.ts';

const functions = { parseMail };

/** The functions that the worker runs for large mails. */
export type MailFunctions = typeof functions;

serveFunctions(functions);
