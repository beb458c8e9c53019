/** Who creates or changes a ticket, as far as the rules depend on it. */
export interface Author {
  /** Null for a service. */
  profileId: number | null;
  isHuman: boolean;
}
