import { serveFunctions } from '@ticketing/sandbox/serve-functions.ts';
import { cleanText } from './rules/clean-text.ts';

const functions = { cleanText };

/** The functions of the worker for long texts. */
export type TextFunctions = typeof functions;

serveFunctions(functions);
