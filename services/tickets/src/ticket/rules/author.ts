/** The creator or editor of a ticket, with the properties that the rules depend on. */
export interface Author {
  /** Null for a service. */
  profileId: number | null;
  isHuman: boolean;
}
