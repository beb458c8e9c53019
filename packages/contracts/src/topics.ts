/** A topic of the bus: its messages are kept in order per key, and for a time. */
export interface Topic {
  name: string;
  /** The largest number of consumers of a group that can share it. */
  partitions: number;
  retentionMs: number;
}

const day = 24 * 60 * 60 * 1000;

/** Changes of tickets: `TicketChanged`, key = ticket id. Source: docs/reference/api.md, Events. */
export const ticketChangedTopic: Topic = {
  name: 'ticketing.ticket.changed.v1',
  partitions: 8,
  retentionMs: 7 * day,
};

/** Changes of tags: `TagChanged`, key = tag id. Source: docs/reference/api.md, Events. */
export const tagChangedTopic: Topic = { name: 'ticketing.tag.changed.v1', partitions: 4, retentionMs: 7 * day };

/** Changes of settings and subchannels: `SettingChanged`, one key for all. Source: docs/reference/api.md, Events. */
export const settingChangedTopic: Topic = {
  name: 'ticketing.setting.changed.v1',
  partitions: 1,
  retentionMs: 7 * day,
};
