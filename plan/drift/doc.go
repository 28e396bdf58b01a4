// Package drift is what was found to differ from what was recorded: the report, and
// the baseline of what is known already. In go what was found of each resource; out
// come counts, and forms for people and files.
package drift
