/**
 * How long a customer of a chat counts as active after a message. Units: seconds.
 *
 * Source: docs/reference/api.md, Ticket fields.
 */
export const activeWithinSeconds = 300;
