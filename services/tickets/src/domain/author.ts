/** Who creates or changes a ticket: the properties that the rules depend on. */
export interface Author {
  /** Null for a service. */
  profileId: number | null;
  isHuman: boolean;
}
