/** The mails of a system. */
export interface DemoMail {
  /** Hands a mail to the system, as a mail server would, and returns the response. */
  receive(mail: string): Promise<Record<string, unknown>>;
  /** The mail with a `Message-ID`, and where it is; undefined if the system has not sent it. */
  sent(messageId: string): Promise<{ place: string; text: string } | undefined>;
}
