/** What `list` understands of a workload's selector; with expressions it lists more, and the owner reference decides. */
export function selectorText(selector: { matchLabels?: Record<string, string> } | undefined) {
  const terms = Object.entries(selector?.matchLabels ?? {}).map(([key, value]) => `${key}=${value}`);
  return terms.length > 0 ? { labelSelector: terms.join(',') } : {};
}
