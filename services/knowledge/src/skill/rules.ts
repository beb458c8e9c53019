/** A skill. Units: times in Unix seconds. */
export interface SkillState {
  id: number;
  slug: string;
  /** The AI agent that owns it; null: all share it. */
  aiAgentId: number | null;
  name: string;
  description: string | null;
  content: string | null;
  createdAt: number;
  modifiedAt: number;
}
