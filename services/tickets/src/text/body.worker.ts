import { serveFunctions } from '@ticketing/sandbox/serve-functions.ts';
import { splitWords } from '@ticketing/text/words.ts';
import { mailText } from './rules/body-text.ts';
import { bodyTexts } from './rules/body-texts.ts';

const functions = { bodyTexts, mailText, splitWords };

/** The functions that the worker runs for long texts. */
export type BodyFunctions = typeof functions;

serveFunctions(functions);
