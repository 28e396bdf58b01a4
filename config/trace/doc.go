// Package trace traces the value of a config to the values that it is computed from, and to
// its place in the manifest, within limits. It takes a value with its expression, and returns
// lines for people.
package trace
