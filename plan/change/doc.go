// Package change describes what a plan does with one resource: a Step has what all steps
// have, and a Part, of which there is one type for each change.
package change
