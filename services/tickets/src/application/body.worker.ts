import { serveFunctions } from '@ticketing/sandbox/serve-functions.ts';
import { bodyTexts } from '../domain/body-texts.ts';
import { wordsOf } from '../domain/words.ts';

const functions = { bodyTexts, wordsOf };

/** What the worker does with long texts. */
export type BodyFunctions = typeof functions;

serveFunctions(functions);
