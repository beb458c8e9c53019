const mib = 1024 * 1024;

/** The limits of incoming mails. Source: docs/reference/api.md, Incoming mail. */
export const mailLimits = {
  /** Of the whole mail, as it is transferred. */
  bytes: 40 * mib,
  /** Of all headers, those of its parts included. */
  headerBytes: mib,
  /** Of the headers that are kept. */
  keptHeaderChars: 256 * 1024,
  keptHeaderValueChars: 16 * 1024,
  depth: 50,
  /** Messages within messages are read as texts down to this depth, and are files below it. */
  messageDepth: 2,
  files: 100,
  fileBytes: 20 * mib,
  filesBytes: 25 * mib,
  bodyBytes: 5 * mib,
  subjectChars: 998,
  nameChars: 320,
  recipients: 500,
};
