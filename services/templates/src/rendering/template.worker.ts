import { serveFunctions } from '@ticketing/sandbox/serve-functions.ts';
import { checkTemplate } from './rules/check-template.ts';
import { endProblems, messageProblems, wrapperProblems } from './rules/check-wrapper.ts';
import type { TemplateProblem } from './rules/problem.ts';
import { RefusedTemplate, renderHtml, renderSubject, TooMuchOutput, withTags } from './rules/render-template.ts';
import { partsAround } from './rules/wrapper.ts';

/** The purpose of a text, which decides how it is checked. */
export type TextKind = 'message' | 'subject' | 'wrapper';

/** The texts that are rendered with the same values. */
export interface TemplateTexts {
  message: string;
  /** Undefined if the message is rendered alone. */
  wrapper?: string | undefined;
  subject?: string | undefined;
}

/** Rendered texts: HTML, and a subject in plain text. */
export interface RenderedTexts {
  message: string;
  subject: string | undefined;
}

/** The rendered texts, the problems of a text that is refused, or a result that would be too long. */
type RenderResult = RenderedTexts | { problems: readonly TemplateProblem[] } | { isTooLong: true };

const checks: Record<TextKind, (text: string) => readonly TemplateProblem[]> = {
  message: messageProblems,
  wrapper: wrapperProblems,
  subject(text) {
    const checked = checkTemplate(text);
    return 'problems' in checked ? checked.problems : [];
  },
};

const functions = {
  findProblems: (kind: TextKind, text: string): readonly TemplateProblem[] => checks[kind](text),
  /** `json` is an object of values in UTF-8; values of `more` replace them. */
  render(texts: TemplateTexts, json: Uint8Array, more: object): RenderResult {
    const { message, wrapper, subject } = texts;
    try {
      const variables = { ...JSON.parse(Buffer.from(json).toString()), ...more };
      const html = renderHtml(message, variables, wrapper === undefined ? undefined : partsAround(wrapper));
      const problems = endProblems(message);
      if (problems.length > 0) return { problems };
      return {
        message: withTags(html),
        subject: subject === undefined ? undefined : renderSubject(subject, variables),
      };
    } catch (error) {
      if (error instanceof TooMuchOutput) return { isTooLong: true };
      if (error instanceof RefusedTemplate) return { problems: error.problems };
      throw error;
    }
  },
};

/** The functions of the worker for templates. */
export type TemplateFunctions = typeof functions;

serveFunctions(functions);
