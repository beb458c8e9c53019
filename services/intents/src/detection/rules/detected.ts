/** The detected values. Confidences are from 0 to 1. */
export interface Detected {
  /** ISO 639-1; null if it is not known. */
  languageCode: string | null;
  sentiment: 'positive' | 'neutral' | 'negative' | null;
  /** At most 10,000 characters. */
  summary: string | null;
  /** Ids of tags of the request. */
  tags: readonly { label: number; confidence: number }[];
  /** Null if it is not known. */
  spam: { isSpam: boolean; confidence: number } | null;
  /** The keywords of the request that the text contains. */
  keywords: readonly string[];
}

/** A keyword that stands in a text says that a tag or an AI agent is likely to fit, not that it does. */
export const keywordConfidence = 0.8;
