import { loadModule } from 'cld3-asm';
import { francAll } from 'franc-min';

/** Two opinions about the language of a text, as ISO 639-1 codes; null where there is none. */
export interface LanguageJudges {
  opinions(text: string): [string | null, string | null];
  close(): void;
}

const maxBytes = 5000;

/**
 * Opens two libraries that judge labels of languages: franc-min compares trigrams, cld3 is a neural network. Neither
 * shares a method or data with the library that is measured.
 */
export async function openLanguageJudges(): Promise<LanguageJudges> {
  const factory = await loadModule();
  const cld3 = factory.create(0, maxBytes);
  return {
    opinions(text) {
      const [first] = francAll(text);
      return [readCode(first?.[0]), readCode(cld3.findLanguage(text).language)];
    },
    close: () => cld3.dispose(),
  };
}

function readCode(tag: string | undefined): string | null {
  if (tag === undefined || tag === 'und') return null;
  return new Intl.Locale(tag).language ?? null;
}
