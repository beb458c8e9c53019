import { serveFunctions } from '@ticketing/sandbox/serve-functions.ts';
import { cleanText } from '../domain/clean-source.ts';

const functions = { cleanText };

/** What the worker does with long texts. */
export type TextFunctions = typeof functions;

serveFunctions(functions);
