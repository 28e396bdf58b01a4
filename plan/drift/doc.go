// Package drift holds how real objects differ from what was recorded: the report, and the
// baseline of drift that is known already. It takes what was found of each resource, and
// returns counts, and forms for people and files.
package drift
