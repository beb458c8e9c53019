/** Adds variables to the text of the file `.env` of compose. Existing variables keep their values. */
export function withVariables(text: string, variables: Readonly<Record<string, string>>): string {
  const isSet = (name: string) => text.split('\n').some((line) => line.startsWith(`${name}=`));
  const added = Object.entries(variables).filter(([name]) => !isSet(name));
  const separator = text === '' || text.endsWith('\n') ? '' : '\n';
  return added.length === 0
    ? text
    : `${text}${separator}${added.map(([name, value]) => `${name}=${value}\n`).join('')}`;
}
