// Package compare reports which actions were approved, and finds the differences between what a plan showed and what its apply finds,
// which it writes side by side. It takes steps of a plan and answers, and returns differences,
// without values that must not be shown, and a table as text.
package compare
