/** A stored e-mail template: the text around a message in a mail. */
export interface EmailTemplateState {
  id: number;
  name: string;
  /** HTML and Handlebars, with `%MESSAGE%` where the message is inserted. */
  template: string;
}
