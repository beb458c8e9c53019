import { serveFunctions } from '@ticketing/sandbox/serve-functions.ts';
import { cleanText } from './rules/clean-text.ts';

const functions = { cleanText };

/** What the worker does with long texts. */
export type TextFunctions = typeof functions;

serveFunctions(functions);
